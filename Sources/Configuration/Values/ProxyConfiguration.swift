// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import BearerdHTTPMessages

/// The proxy for outgoing connections (`proxy`).
package enum ProxyConfiguration: Sendable {
    /// No proxy, whatever the environment says.
    case none
    /// The proxy that `https_proxy`, `http_proxy`, `all_proxy` and `NO_PROXY` name.
    case environment
    /// This `http`, `https` or `socks5h` URL, which may hold a password.
    case url(Secret)

    /// True if its URL holds a password or a user's name.
    var hasPassword: Bool {
        switch self {
        case .none, .environment: false
        case .url(let url): url.withPlaintext { $0.contains("@") }
        }
    }
}

extension ValueKind<ProxyConfiguration> {
    /// `environment`, or a proxy's URL; never quoted in a message.
    static var proxy: ValueKind {
        ValueKind<String>.text.map { text throws(ValueError) in
            if text == "environment" { return .environment }
            guard let range = text.firstRange(of: "://"), schemes.contains(text[..<range.lowerBound])
            else { throw ValueError("is neither 'environment' nor an http, https or socks5h URL") }
            let authority = text[range.upperBound...].split(separator: "/", maxSplits: 1).first ?? ""
            let address = authority.split(separator: "@").last ?? ""
            guard HostPattern(String(address)) != nil
            else { throw ValueError("the proxy's URL has no valid host") }
            // Unlisted, because only the proxy sees its secret part, and messages must be able to name its host.
            return .url(Secret(unlisted: Array(text.utf8)))
        }
    }

    private static var schemes: Set<Substring> { ["http", "https", "socks5h"] }
}

extension ProxyConfiguration: Equatable {
    package static func == (left: ProxyConfiguration, right: ProxyConfiguration) -> Bool {
        switch (left, right) {
        case (.none, .none), (.environment, .environment): true
        case (.url(let one), .url(let other)): one.matches(other)
        case (.none, _), (.environment, _), (.url, _): false
        }
    }
}
