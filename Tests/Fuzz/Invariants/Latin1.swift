// SPDX-License-Identifier: Apache-2.0

/// One byte for each scalar up to U+00FF.
package func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}

/// The bytes, each as one scalar.
package func latin1(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes {
        text.unicodeScalars.append(Unicode.Scalar(byte))
    }
    return text
}
