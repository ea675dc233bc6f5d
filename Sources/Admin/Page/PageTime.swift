// SPDX-License-Identifier: Apache-2.0

internal import OAuth

extension Duration {
    /// The duration of a request for people.
    var shortWords: String {
        let milliseconds = self / .milliseconds(1)
        if milliseconds >= 10_000 { return "\(Int((milliseconds / 1000).rounded())) s" }
        if milliseconds >= 1000 { return "\(oneDecimal(milliseconds / 1000)) s" }
        if milliseconds >= 10 { return "\(Int(milliseconds.rounded())) ms" }
        return "\(oneDecimal(milliseconds)) ms"
    }
}

/// A number with one decimal if it is below ten, else rounded to an integer.
func oneDecimal(_ number: Double) -> String {
    guard number < 10 else { return grouped(Int(number.rounded())) }
    let tenths = Int((number * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
}

/// A number with its thousands separated.
func grouped(_ number: Int) -> String {
    let digits = String(abs(number))
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text.append("\u{202F}") }
        text.append(digit)
    }
    return number < 0 ? "-" + text : text
}
