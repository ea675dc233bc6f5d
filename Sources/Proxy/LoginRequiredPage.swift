// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages

/// The page that a browser shows when somebody must log in: a link or a command, and no script.
struct LoginRequiredPage: Equatable, Sendable {
    /// The identity's name; nil if it must not be shown.
    let identity: String?
    /// The address at which a browser logs in; nil if only the command can.
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

    /// Sets the content type and the security policy of the page.
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
    /// True if a browser asks for a page to show in a window.
    var areOfWindow: Bool {
        containsToken("navigate", in: .secFetchMode)
            && values(of: .accept).contains { $0.lowercased().contains("text/html") }
    }
}
