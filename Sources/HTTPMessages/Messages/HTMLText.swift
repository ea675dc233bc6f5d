// SPDX-License-Identifier: Apache-2.0

/// HTML in which only our own literals are markup; interpolated texts are escaped.
package struct HTMLText: Sendable, ExpressibleByStringInterpolation {
    package private(set) var markup: String

    package init(stringLiteral markup: String) { self.markup = markup }

    package init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity)
        }

        package mutating func appendLiteral(_ literal: String) { markup += literal }

        package mutating func appendInterpolation(_ text: HTMLText) { markup += text.markup }

        package mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": markup += "&amp;"
                case "<": markup += "&lt;"
                case ">": markup += "&gt;"
                case "\"": markup += "&quot;"
                case "'": markup += "&#39;"
                default: markup.unicodeScalars.append(scalar)
                }
            }
        }
    }
}

extension HTMLText {
    package static let empty: HTMLText = ""

    package static func += (left: inout HTMLText, right: HTMLText) { left.markup += right.markup }
}

extension Sequence<HTMLText> {
    package func joined() -> HTMLText { reduce(into: HTMLText.empty) { $0 += $1 } }
}
