// SPDX-License-Identifier: Apache-2.0

import HTTPMessages
import Testing

/// A message, as Latin-1 text, and the error it must be refused with.
struct Refusal: Sendable, CustomTestStringConvertible {
    let text: String
    let error: HTTPParseError

    init(_ text: String, _ error: HTTPParseError) {
        self.text = text
        self.error = error
    }

    var bytes: [UInt8] { latin1(text) }
    var testDescription: String { "\(error): \(text.prefix(60).debugDescription)" }
}

/// One byte for each scalar up to U+00FF.
func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}

/// The bytes, each as one scalar.
func latin1(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes {
        text.unicodeScalars.append(Unicode.Scalar(byte))
    }
    return text
}
