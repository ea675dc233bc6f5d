// SPDX-License-Identifier: Apache-2.0

/// A short page: a title, a text, and perhaps a button; it loads nothing and runs nothing.
package struct SmallPage: Sendable {
    private let title: HTMLText
    private let content: HTMLText

    /// - Parameter content: the part below the title, in paragraphs.
    package init(title: HTMLText, content: HTMLText) {
        self.title = title
        self.content = content
    }

    /// The style sheet, exactly: a content security policy names it by its hash.
    package static let style = """
        :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
        body { max-width: 26rem; margin: 12vh auto; padding: 0 1rem; overflow-wrap: anywhere }
        h1 { font-size: 1.5rem; line-height: 1.25 }
        input, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin: .25rem 0 }
        a.go { display: block; padding: .6rem 1rem; border-radius: .5rem; text-align: center;
          text-decoration: none; background: #0b57d0; color: #fff }
        a.go:focus-visible { outline: 3px solid currentColor; outline-offset: 2px }
        .mark { margin: 0; font-weight: 700; letter-spacing: -.01em; color: light-dark(#55606d, #9ba6b3) }
        .mark::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: 50%;
          margin-right: .4em; background: light-dark(#0b57d0, #8ab4f8) }
        .problem { color: light-dark(#b3261e, #ff8f8f) }
        """

    package var bytes: [UInt8] {
        let style = HTMLText(stringLiteral: Self.style)
        let page: HTMLText = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(title)</title><style>\(style)</style></head><body><p class="mark">bearerd</p><h1>\(title)</h1>
            \(content)
            </body></html>

            """
        return Array(page.markup.utf8)
    }
}
