// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdSystem

package enum StoreConfiguration: Equatable, Sendable {
    /// Files under this directory, encrypted if there is a key.
    case file(directory: String, encryptionKey: EncryptionKey?)
    /// Memory: sessions end with the process.
    case memory
    /// Redis, shared by a fleet.
    case redis(RedisConfiguration)
}

extension StoreConfiguration {
    /// The directory of its files; nil for a store without files.
    package var directory: String? {
        switch self {
        case .file(let directory, _): directory
        case .memory, .redis: nil
        }
    }

    /// True if its files are where those of whoever runs this program are by default: another user's are elsewhere.
    package var isInStandardDirectory: Bool {
        let standard = Self.standardDirectory(
            isRoot: CurrentProcess.effectiveUser == 0, CurrentProcess.environment)
        return directory == standard
    }

    /// The files that are needed to read it, and that may change while it is open.
    package var files: [String] {
        switch self {
        case .memory: []
        case .file(_, .given(let key)?): [key.path].compactMap(\.self)
        case .file(_, .keyring?), .file(_, nil): []
        case .redis(let redis):
            [
                redis.encryptionKey.path, redis.password?.path, redis.caFile,
                redis.clientCertificate?.certificateFile, redis.clientCertificate?.keyFile,
            ].compactMap(\.self)
        }
    }

    /// The source of the encryption key; nil without one, and if the Secret Service has it.
    package var givenKey: SecretSource? {
        switch self {
        case .file(_, .given(let key)?): key
        case .redis(let redis): redis.encryptionKey
        case .file, .memory: nil
        }
    }

    enum Key: String, ConfigurationKey {
        case type
        case directory
        case encryptionKey = "encryption_key"
        case encryptionKeyKeyring = "encryption_key_keyring"
        case url
        case password
        case sentinels
        case masterName = "master_name"
        case keyPrefix = "key_prefix"
        case caFile = "ca_file"
        case clientCertificateFile = "client_certificate_file"
        case clientKeyFile = "client_key_file"

        var isSecret: Bool { self == .encryptionKey || self == .password }

        /// True if only a store in Redis has the key.
        var isRedis: Bool {
            switch self {
            case .type, .directory, .encryptionKey, .encryptionKeyKeyring: false
            case .url, .password, .sentinels, .masterName, .keyPrefix, .caFile, .clientCertificateFile,
                .clientKeyFile:
                true
            }
        }
    }

    private enum TypeWord: String, CaseIterable {
        case file
        case memory
        case redis
    }

    init(reading section: Section<Key>) {
        let type = section.value(.type, ValueKind<TypeWord>.word, default: .file)
        let directory = section.value(.directory, .path(in: section.reading))?.value
        let key = section.secret(.encryptionKey, where: "is not 32 bytes in hexadecimal or base64") { key in
            SealingKey.bytes(of: key) != nil
        }
        let keyring = section.value(.encryptionKeyKeyring, .keyringName)?.value
        if section.has(.encryptionKeyKeyring), section.hasSecret(.encryptionKey) {
            let other = section.spelling(ofSecret: .encryptionKey)
            section.error(
                .encryptionKeyKeyring, "only one of \(other) and encryption_key_keyring may be given")
        }
        if type != .redis {
            for key in Key.allCases where key.isRedis && section.hasSecret(key) {
                section.reading.error(
                    "needs store.type: redis", at: section.place(ofSpelling: section.spelling(ofSecret: key)))
            }
        }
        switch type {
        case .file:
            let standard = Self.standardDirectory(
                isRoot: CurrentProcess.effectiveUser == 0, section.reading.environment)
            self = .file(
                directory: directory ?? standard,
                encryptionKey: key.map { .given($0) } ?? keyring.map { .keyring($0) })
        case .memory:
            if directory != nil { section.error(.directory, "means nothing to a store in memory") }
            for key in [Key.encryptionKey, .encryptionKeyKeyring] where section.hasSecret(key) {
                section.error(key, "means nothing to a store in memory")
            }
            self = .memory
        case .redis:
            if directory != nil { section.error(.directory, "means nothing to a store in Redis") }
            if section.has(.encryptionKeyKeyring) {
                section.error(
                    .encryptionKeyKeyring,
                    "is one machine's, and a store in Redis is shared: store.encryption_key_file is for a fleet"
                )
            }
            self = RedisConfiguration(reading: section, encryptionKey: key).map { .redis($0) } ?? .memory
        }
    }

    /// The first directory of systemd's `StateDirectory=`; otherwise the usual place for a service's or a user's
    /// state.
    static func standardDirectory(isRoot: Bool, _ environment: (String) -> String?) -> String {
        if let made = environment(Variable.stateDirectory)?.split(separator: ":").first {
            return String(made)
        }
        guard !isRoot else { return serviceDirectory }
        // XDG base directories: a relative path must be ignored.
        if let home = environment(Variable.stateHome), home.hasPrefix("/") { return "\(home)/bearerd" }
        // In a container the home of an unknown user is the root directory.
        guard let home = environment(Variable.home), home.hasPrefix("/"), home != "/"
        else { return serviceDirectory }
        return "\(home)/.local/state/bearerd"
    }

    private static let serviceDirectory = "/var/lib/bearerd"
}
