// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Testing

struct `A timestamp` {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_799_999, "2000-02-29T23:59:59.999Z"),
        (1_709_251_199_050, "2024-02-29T23:59:59.050Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `a point in time is written in UTC with milliseconds`(milliseconds: Int64, expected: String) {
        var timestamp = Timestamp()
        var bytes: [UInt8] = []
        timestamp.append(unixMilliseconds: milliseconds, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `the cached second is renewed when time moves either way`() {
        var timestamp = Timestamp()
        var bytes: [UInt8] = []
        for milliseconds: Int64 in [1999, 2000, 1000] {
            timestamp.append(unixMilliseconds: milliseconds, to: &bytes)
        }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "1970-01-01T00:00:01.999Z1970-01-01T00:00:02.000Z1970-01-01T00:00:01.000Z")
    }

    @Test(arguments: [0, 951_782_399, 951_868_799, 1_795_257_954, 4_102_444_799, 253_402_300_799] as [Int64])
    func `what is written is read again`(seconds: Int64) {
        #expect(Timestamp.unixSeconds(Timestamp.text(unixSeconds: seconds)) == seconds)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T10:45:54", "2026-11-21T10:45:54+00:00", "2026-13-21T10:45:54Z",
        "2026-02-29T10:45:54Z", "2026-11-21T24:45:54Z", "2026-11-21T10:60:54Z", "99999999999T10:45:5Z",
    ])
    func `what is no time is not read as one`(text: String) {
        #expect(Timestamp.unixSeconds(text) == nil)
    }

    @Test func `seconds alone are written without a fraction`() {
        #expect(Timestamp.text(unixSeconds: 1_795_257_954) == "2026-11-21T10:45:54Z")
    }
}
