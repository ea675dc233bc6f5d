// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// A cookie that scripts cannot read and that a browser sends when a person follows a link, but with no other
/// request of another site's page (RFC 6265, `SameSite=Lax`).
struct Cookie {
    let name: String
    let path: String
    /// True if the cookie is sent over TLS only.
    var isSecure = false

    /// The value of `Set-Cookie` that stores the cookie.
    func kept(_ value: String, for lifetime: Duration) -> String {
        "\(name)=\(value); Path=\(path); Max-Age=\(lifetime.components.seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    /// The value of `Set-Cookie` that deletes the cookie.
    var cleared: String { kept("", for: .zero) }

    /// The values of the cookie in a request; several if cookies of different paths share the name.
    func values(in fields: HTTPFields) -> [String] {
        fields.values(of: .cookie).flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(name), pair.dropFirst(name.count).first == "=" else { return nil }
            return String(pair.dropFirst(name.count + 1))
        }
    }
}
