// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import System

/// Where sessions are kept (`store`).
package enum StoreConfiguration: Equatable, Sendable {
    /// In files under this directory, encrypted if there is a key: 32 bytes in hexadecimal or base64.
    case file(directory: String, encryptionKey: SecretSource?)
    /// In memory: they end with the process.
    case memory
}

extension StoreConfiguration {
    /// Where its files are; nil for a store without any.
    package var directory: String? {
        switch self {
        case .file(let directory, _): directory
        case .memory: nil
        }
    }

    enum Key: String, ConfigurationKey {
        case type
        case directory
        case encryptionKey = "encryption_key"
        case url
        case keyPrefix = "key_prefix"
        case caFile = "ca_file"
        case clientCertificateFile = "client_certificate_file"
        case clientKeyFile = "client_key_file"

        var isSecret: Bool { self == .encryptionKey || self == .url }

        var feature: Feature? {
            switch self {
            case .type, .directory, .encryptionKey: nil
            case .url, .keyPrefix, .caFile, .clientCertificateFile, .clientKeyFile: .redisStore
            }
        }
    }

    private enum TypeWord: String, CaseIterable {
        case file
        case memory
        case keyring
        case redis
    }

    init(reading section: Section<Key>) {
        let type = section.value(.type, ValueKind<TypeWord>.word, default: .file)
        let directory = section.value(.directory, .path(in: section.reading))?.value
        let key = section.secret(.encryptionKey, where: "is not 32 bytes in hexadecimal or base64") { key in
            SealingKey.bytes(of: key) != nil
        }
        switch type {
        case .file:
            let standard = Self.standardDirectory(
                isRoot: CurrentProcess.effectiveUser == 0, section.reading.environment)
            self = .file(directory: directory ?? standard, encryptionKey: key)
        case .memory:
            if directory != nil { section.error(.directory, "means nothing to a store in memory") }
            if section.hasSecret(.encryptionKey) {
                section.error(.encryptionKey, "means nothing to a store in memory")
            }
            self = .memory
        case .keyring, .redis:
            section.error(.type, "not supported yet: \(type.rawValue)")
            self = .memory
        }
    }

    /// The first of what systemd's `StateDirectory=` made; else the place that distributions have for a service's, or
    /// users for their own programs' state.
    static func standardDirectory(isRoot: Bool, _ environment: (String) -> String?) -> String {
        if let made = environment(Variable.stateDirectory)?.split(separator: ":").first {
            return String(made)
        }
        guard !isRoot else { return serviceDirectory }
        // XDG base directories: what is not absolute does not count.
        if let home = environment(Variable.stateHome), home.hasPrefix("/") { return "\(home)/bearerd" }
        // A container gives a user that it does not know the root directory.
        guard let home = environment(Variable.home), home.hasPrefix("/"), home != "/" else {
            return serviceDirectory
        }
        return "\(home)/.local/state/bearerd"
    }

    private static let serviceDirectory = "/var/lib/bearerd"
}
