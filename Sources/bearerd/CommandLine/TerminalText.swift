// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem

/// A text for people, parts of which are coloured on a terminal.
struct TerminalText {
    /// A colour, by its parameter of SGR (ECMA-48 8.3.117).
    enum Colour: String {
        case red = "31"
        case green = "32"
        case yellow = "33"
        /// For what has to be light on dark whatever the terminal's own colours are.
        case lightOnDark = "40;97"
    }

    private var pieces: [(text: String, colour: Colour?)] = []

    /// Makes a text without colour.
    init(_ text: String = "") {
        append(text)
    }

    mutating func append(_ text: String, _ colour: Colour? = nil) {
        pieces.append((text, colour))
    }

    mutating func append(_ other: TerminalText) { pieces += other.pieces }

    /// The text with characters other than line ends that control a terminal escaped.
    func written(inColour isColoured: Bool) -> String {
        pieces.map { text, colour in
            let text = text.printable(keepingLineEnds: true)
            guard isColoured, let colour, !text.isEmpty else { return text }
            return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
        }.joined()
    }

    /// True if standard output is a terminal and its user allows colours.
    static var isColoured: Bool { isColoured(on: 1) }

    /// Returns true if a stream is a terminal and its user allows colours (https://no-color.org).
    static func isColoured(on stream: CInt) -> Bool {
        CurrentProcess.isTerminal(stream) && CurrentProcess.environment("NO_COLOR") ?? "" == ""
            && CurrentProcess.environment("TERM") != "dumb"
    }
}
