// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTP1
import Testing

/// A message, as Latin-1 text, and the error it must be refused with.
struct Refusal: Sendable, CustomTestStringConvertible {
    let text: String
    let error: HTTPParseError

    init(_ text: String, _ error: HTTPParseError) {
        self.text = text
        self.error = error
    }

    /// Several messages for each error, all of which begin with `start`.
    static func table(
        behind start: String = "", _ texts: KeyValuePairs<HTTPParseError, [String]>
    ) -> [Refusal] {
        texts.flatMap { error, texts in texts.map { Refusal(start + $0, error) } }
    }

    var bytes: [UInt8] { latin1(text) }
    var testDescription: String { "\(error): \(text.prefix(60).debugDescription)" }
}
