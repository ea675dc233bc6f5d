// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// An error that says in one line what is wrong, and what to do where that is known; it shows no secret.
///
/// Every error of this package's products is one, so that `print(error)` and `"\(error)"` are fit for people. The product
/// `OAuthFoundation` makes each of them a `LocalizedError` too, whose `localizedDescription` is the ``sentence``: this module
/// does without Foundation, which declares that protocol.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// The reason and the remedy, as a sentence without its full stop.
    var sentence: String { get }
}

extension ExplainedError {
    /// The ``sentence``, on one line whatever a program has put into it.
    public var description: String { sentence.onOneLine }
}

extension String {
    /// This text with a space in place of each control character and line separator.
    package var onOneLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
    }

    /// A reason that a program's own transport, store or credentials gave; a remark in its place if it repeats a secret.
    var shownReason: String { SecretListing.cleared(self) }
}

extension Duration {
    /// `10 s`, rounded up: what somebody should wait.
    var inWholeSeconds: String {
        let (seconds, attoseconds) = components
        return "\(seconds + (attoseconds > 0 ? 1 : 0)) s"
    }
}
