// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import OAuth

/// Cookies that replace the admin key in a browser in which somebody has typed it.
///
/// The server keeps no list of them. Each holds its expiry and a proof of the current key and of this
/// process's salt, so it ends with its time, with the key and with the process.
struct KeyCookies: Sendable {
    /// A working day.
    private static let lifetime = Duration.seconds(12 * 3600)
    private static let cookie = Cookie(name: OwnCookie.prefix + "admin", path: "/")

    private let salt = SecureRandom.bytes(32)
    private let begin: Instant
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
        begin = now()
    }

    /// The value of `Set-Cookie` that replaces `key` from now on.
    func cookie(for key: CurrentSecret) -> String {
        let end = (now() - begin + Self.lifetime).components.seconds
        return Self.cookie.kept("\(end).\(proof(of: key, until: end))", for: Self.lifetime)
    }

    /// Returns true if a request has a valid cookie for `key`.
    func stand(for key: CurrentSecret, in fields: HTTPFields) -> Bool {
        let present = (now() - begin).components.seconds
        return Self.cookie.values(in: fields).contains { value in
            let parts = value.split(separator: ".", maxSplits: 1)
            guard parts.count == 2, let end = Int64(parts[0]), present < end,
                end <= present + Self.lifetime.components.seconds
            else { return false }
            return Secret(proof(of: key, until: end)).matches(Array(parts[1].utf8))
        }
    }

    private func proof(of key: CurrentSecret, until end: Int64) -> String {
        Base64URL.encode(key.digest(salted: salt + Array("\(end).".utf8)))
    }
}
