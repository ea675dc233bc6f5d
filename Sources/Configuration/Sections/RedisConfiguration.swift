// SPDX-License-Identifier: Apache-2.0

/// A store that a fleet shares (`store`, `type: redis`).
package struct RedisConfiguration: Equatable, Sendable {
    /// The server; with sentinels its host and port have no meaning.
    package let location: RedisLocation
    /// The user's password; nil for a user without one.
    package let password: SecretSource?
    /// The key that names the password, as in `password_file`.
    package let passwordKey: String
    /// A PEM file with the only CAs to trust; nil for the system's.
    package let caFile: String?
    package let clientCertificate: ClientCertificate?
    /// The beginning of every key and channel.
    package let keyPrefix: String
    /// The sentinels to ask for the master; none if the server is known.
    package let sentinels: [ConnectAddress]
    package let masterName: String
    /// 32 bytes in hexadecimal or base64; Redis never sees a token.
    package let encryptionKey: SecretSource
}

extension RedisConfiguration {
    static let standardPrefix = "bearerd:"

    /// - Parameter encryptionKey: nil if it is missing or was reported.
    /// - Returns: nil if an error was reported.
    init?(reading section: Section<StoreConfiguration.Key>, encryptionKey: SecretSource?) {
        var location = section.value(.url, .redisLocation(in: section.reading))?.value
        if section.has(.sentinels) {
            // The sentinels know the address; everything else comes from the URL.
            if !section.has(.url) { location = try? RedisLocation("redis://master", in: section.reading) }
        } else {
            section.require(
                .url, "is missing: where Redis is, like redis://redis.example.com:6379 (or store.sentinels)")
        }
        if !section.hasSecret(.encryptionKey), !section.has(.encryptionKeyKeyring) {
            section.error(
                .type,
                "store.encryption_key_file is missing: Redis must not see tokens; openssl rand -hex 32 makes one"
            )
        }
        let password = section.secret(.password)
        let isEncrypted = location?.isEncrypted ?? true
        if !isEncrypted {
            for key in [StoreConfiguration.Key.caFile, .clientCertificateFile, .clientKeyFile]
            where section.has(key) {
                section.error(key, "means nothing without TLS: make store.url a rediss:// one")
            }
            if section.has(.url), case .tcp(let host, _)? = location?.place,
                let address = ConnectAddress("\(Self.written(host)):1"),
                !address.isLoopback, password != nil
            {
                section.warn(.url, "sends store.password in plain text through a network: make it rediss://")
            }
        }
        caFile = section.certificateFile(.caFile)
        clientCertificate = ClientCertificate(reading: section)
        keyPrefix = section.value(.keyPrefix, .text, default: Self.standardPrefix)
        sentinels = section.oneOrMany(.sentinels, .connectAddress)?.map(\.value) ?? []
        let name = section.value(.masterName, .text)?.value
        masterName = name ?? ""
        if section.has(.sentinels) {
            section.require(.masterName, "is missing: what the sentinels call the master")
            if case .unix? = location?.place {
                section.error(.url, "is a Unix socket, and sentinels tell of hosts and ports")
            }
        } else if name != nil {
            section.error(.masterName, "means nothing without store.sentinels")
        }
        guard let location, let encryptionKey else { return nil }
        self.location = location
        self.password = password
        passwordKey = section.spelling(ofSecret: .password)
        self.encryptionKey = encryptionKey
    }

    private static func written(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
