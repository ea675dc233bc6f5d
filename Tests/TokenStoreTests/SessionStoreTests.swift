// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import BearerdTokenStore
import OAuth
import StoreConformance
import Testing

/// What every store promises to the sessions that share it; a new one is one more case of ``Kind``.
@Suite struct `A store of any kind` {
    enum Kind: CaseIterable {
        case memory
        case files
        case encryptedFiles
        case redis

        /// Those that this machine can have.
        static var allCases: [Kind] {
            [.memory, .files, .encryptedFiles] + (RedisProcess.program == nil ? [] : [.redis])
        }

        /// What is broken takes for ever; what is busy may take long.
        private static let limit = Duration.seconds(240)

        func conformance(in fixture: StoreFixture) throws -> SessionStoreConformance {
            switch self {
            case .memory:
                let store = MemoryStore(on: fixture.thread)
                return SessionStoreConformance(isShared: false, limit: Self.limit) { store }
            case .files:
                return SessionStoreConformance(limit: Self.limit) { try fixture.open() }
            case .encryptedFiles:
                let sealer = try #require(
                    EncryptingSealer(key: Secret(String(repeating: "0", count: 64))))
                return SessionStoreConformance(limit: Self.limit) { try fixture.open(sealer: sealer) }
            case .redis:
                return SessionStoreConformance(limit: Self.limit) { try fixture.openRedis() }
            }
        }
    }

    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(arguments: Kind.allCases, SessionStoreConformance.Promise.allCases)
    func `keeps each promise`(of kind: Kind, promise: SessionStoreConformance.Promise) async throws {
        let violations = try await kind.conformance(in: fixture).violations(of: [promise])
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func `in memory is changed by nobody else`() async throws {
        for await _ in MemoryStore(on: fixture.thread).changes(of: "default") {
            Issue.record("nobody else can have changed it")
        }
    }
}
