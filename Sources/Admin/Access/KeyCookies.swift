// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import OAuth

/// What a browser has in place of the admin key once somebody has typed that in.
///
/// Nothing is kept of those that were given out: each says until when it counts, and proves that whoever made it had the
/// key of this moment and the salt of this process. So they end with their time, with the key, and with the process.
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

    /// The value of `Set-Cookie` that stands for `key` from here on.
    func cookie(for key: CurrentSecret) -> String {
        let end = (now() - begin + Self.lifetime).components.seconds
        return Self.cookie.kept("\(end).\(proof(of: key, until: end))", for: Self.lifetime)
    }

    /// Whether a request has a cookie that still stands for `key`.
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
