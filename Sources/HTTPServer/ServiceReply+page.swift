// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension ServiceReply {
    /// An HTML page that may not be cached, framed or referred from.
    ///
    /// - Parameter directives: additions to a content security policy that otherwise allows nothing.
    package init(page markup: [UInt8], status: Int = 200, allowing directives: String) {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = "text/html; charset=utf-8"
        head.fields[.cacheControl] = "no-store"
        head.fields[.contentSecurityPolicy] =
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; \(directives)"
        for (name, value) in [("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff")] {
            HTTPFields.Name(name).map { head.fields[$0] = value }
        }
        self.init(head: head, body: .bytes(markup))
    }
}
