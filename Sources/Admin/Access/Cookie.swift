// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// A cookie that no script reads, and that comes along where a person follows a link, but with no other request of
/// another site's page (RFC 6265, `SameSite=Lax`).
struct Cookie {
    let name: String
    let path: String
    /// Whether it goes over TLS alone.
    var isSecure = false

    /// The value of `Set-Cookie` that has a browser keep it.
    func kept(_ value: String, for lifetime: Duration) -> String {
        "\(name)=\(value); Path=\(path); Max-Age=\(lifetime.components.seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    /// The value of `Set-Cookie` that has a browser forget it.
    var cleared: String { kept("", for: .zero) }

    /// What a request says that the cookie is: several, where cookies of several paths have one name.
    func values(in fields: HTTPFields) -> [String] {
        fields.values(of: .cookie).flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(name), pair.dropFirst(name.count).first == "=" else { return nil }
            return String(pair.dropFirst(name.count + 1))
        }
    }
}
