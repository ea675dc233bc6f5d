// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdHTTPClient
import BearerdObservability
import BearerdRedis
import BearerdSystem
import OAuth

extension RedisConfiguration {
    /// How much longer a lease lives than a token request may take.
    private static let leaseMargin: Duration = .seconds(5)

    /// Makes the settings of the store's connection.
    ///
    /// - Parameters:
    ///   - timeouts: the time limit of token requests.
    ///   - secrets: reads the password.
    ///   - files: reads certificates.
    ///   - trust: the store of parsed CA files.
    /// - Throws: `TrustStore.LoadError`, or `CredentialError` for invalid addresses.
    func settings(
        timeouts: TimeoutsConfiguration, secrets: SecretReader, files: FileExecutor, trust: TrustStores
    ) throws -> RedisSettings {
        let server =
            switch location.place {
            case .tcp(let host, let port):
                RedisServer(host: host, port: port, isEncrypted: location.isEncrypted)
            case .unix(let path): RedisServer(socket: path)
            }
        let sentinels = sentinels.compactMap {
            RedisServer(host: $0.host, port: $0.port, isEncrypted: location.isEncrypted)
        }
        guard let server, sentinels.count == self.sentinels.count else {
            throw CredentialError(reason: "store.url or store.sentinels name no place to connect to")
        }
        var settings = RedisSettings(server: server)
        settings.sentinels = sentinels
        settings.masterName = masterName
        settings.user = location.user
        settings.database = location.database
        settings.keyPrefix = keyPrefix
        let own = clientCertificate.map { trust.ownCertificates[$0] }
        settings.transport = Transport(
            trust: location.isEncrypted ? try trust.store(caFile: caFile) : nil, ownCertificate: own)
        if location.isEncrypted {
            let caFile = caFile
            let readings = SharedReading<String?, TrustStore?>(on: files)
            settings.prepare = {
                await readings.value(of: caFile) {
                    _ = own?.read()
                    guard let caFile else { return nil }
                    if (try? CertificateFile.check(caFile)) != nil { try? trust.refresh([caFile]) }
                    return try? trust.store(caFile: caFile)
                }
            }
        }
        settings.leaseLife = timeouts.token + Self.leaseMargin
        settings.passwordKey = "store.\(passwordKey)"
        if let source = password {
            settings.password = {
                do throws(CredentialError) {
                    return .success(try await secrets.read(source, within: .zero))
                } catch {
                    return .failure(error)
                }
            }
        }
        return settings
    }
}

extension RedisEvent {
    /// Logs the event.
    func tell(_ log: Log) {
        switch self {
        case .lost(let reason):
            log.error(
                "the store is out of reach: tokens that are valid are used, none is renewed",
                [.reason: .string(reason)])
        case .found:
            log.notice("the store can be reached again")
        case .hindered(let reason):
            log.warning(
                "the store can be used, but other daemons hear of changes late, or wait for its lock",
                [.reason: .string(reason)])
        case .damaged(let identity, let key):
            log.error(
                "what the store holds is no session, and is not used",
                [
                    .identity: .string(identity), .file: .string(key),
                    .hint: "whoever has the session replaces it; else log in again",
                ])
        }
    }
}
