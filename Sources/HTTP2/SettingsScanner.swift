// SPDX-License-Identifier: Apache-2.0

/// Reads the parameters of SETTINGS as they pass, each in its turn (RFC 9113 §6.5.3): of those that a frame names twice nghttp2
/// tells the last one alone.
struct SettingsScanner {
    /// How many bytes of the frame have not come yet.
    private(set) var rest = 0
    /// The part of a parameter that has come.
    private var part: UInt64 = 0

    /// Begins with the payload of another frame.
    mutating func begin(length: Int) {
        rest = length
        part = 0
    }

    /// Takes bytes of the payload, of which there are at most ``rest``.
    ///
    /// - Parameter judge: returns the fault of a parameter, which is told by its number and value.
    /// - Returns: the first fault.
    mutating func take(
        _ bytes: Span<UInt8>, judge: (UInt16, UInt32) -> HTTP2ErrorCode?
    ) -> HTTP2ErrorCode? {
        for index in bytes.indices {
            part = part &<< 8 | UInt64(bytes[index])
            rest -= 1
            guard rest % Self.parameterLength == 0 else { continue }
            if let fault = judge(UInt16(truncatingIfNeeded: part &>> 32), UInt32(truncatingIfNeeded: part)) {
                return fault
            }
        }
        return nil
    }

    /// The length of a parameter (RFC 9113 §6.5.1).
    static let parameterLength = 6
}
