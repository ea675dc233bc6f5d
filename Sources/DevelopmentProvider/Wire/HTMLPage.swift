// SPDX-License-Identifier: Apache-2.0

/// A page of the provider; every text goes in through ``HTMLText`` and is escaped.
struct HTMLPage {
    let title: HTMLText
    let content: HTMLText

    var bytes: [UInt8] {
        let page: HTMLText = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(title)</title><style>
            :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
            body { max-width: 22rem; margin: 12vh auto; padding: 0 1rem }
            input, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin: .25rem 0 }
            .problem { color: #c0392b } code { overflow-wrap: anywhere }
            </style></head><body><h1>\(title)</h1>
            \(content)
            </body></html>

            """
        return Array(page.markup.utf8)
    }
}

/// HTML in which only literals of our own are markup: whatever is interpolated is escaped.
struct HTMLText: ExpressibleByStringInterpolation {
    let markup: String

    init(stringLiteral markup: String) {
        self.markup = markup
    }

    init(stringInterpolation: StringInterpolation) {
        markup = stringInterpolation.markup
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) {
            markup += literal
        }

        mutating func appendInterpolation(_ text: HTMLText) {
            markup += text.markup
        }

        mutating func appendInterpolation(_ text: String) {
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
