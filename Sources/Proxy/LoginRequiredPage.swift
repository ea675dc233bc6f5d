// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages

/// What a browser's window shows where somebody must log in: a link to where, and no script.
struct LoginRequiredPage: Equatable, Sendable {
    /// nil where it is not to be told.
    let identity: String?
    /// Where a browser logs in; nil where only the command does.
    let url: String?
    let command: String

    private static let policy = """
        default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
        style-src \(ContentHash.source(SmallPage.style))
        """

    var bytes: [UInt8] {
        let whom = identity.map { " for <strong>\($0)</strong>" as HTMLText } ?? .empty
        let way: HTMLText =
            if let url {
                "<p><a class=\"go\" href=\"\(url)\">Log in</a></p><p>Then come back, and load this page again.</p>"
            } else {
                "<p>Run <code>\(command)</code> on the machine where bearerd is, then load this page again.</p>"
            }
        return SmallPage(
            title: "Somebody must log in",
            content: "<p>bearerd has no session\(whom), so this request went no further.</p>\(way)"
        ).bytes
    }

    /// Says what the body is, and what a browser may do with it.
    func describe(in fields: inout HTTPFields) {
        fields[.contentType] = "text/html; charset=utf-8"
        fields[.contentSecurityPolicy] = Self.policy
        fields[.vary] = "Accept, Sec-Fetch-Mode"
        for (name, value) in [("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff")] {
            HTTPFields.Name(name).map { fields[$0] = value }
        }
    }
}

extension HTTPFields {
    /// Whether a browser's window asks that is about to show a page.
    var areOfWindow: Bool {
        containsToken("navigate", in: .secFetchMode)
            && values(of: .accept).contains { $0.lowercased().contains("text/html") }
    }
}
