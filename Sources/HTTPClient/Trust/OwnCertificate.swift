// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Synchronization
internal import System
internal import TLS

/// Our own certificate for one upstream or more, as its files were when they were read last.
///
/// Whoever makes connections takes it from memory; whoever watches the files has it read again.
package final class OwnCertificate: Sendable {
    /// More than any chain, or key.
    private static let longestFile = 1 << 20

    /// A PEM file with the certificate and those that lead to its authority.
    package let certificateFile: String
    /// The PEM file with its key.
    package let keyFile: String
    private let current = Mutex<CertifiedKey?>(nil)
    /// How often there was another one.
    private let generation = Atomic<Int>(0)

    /// Nothing is read yet.
    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }

    /// The files, each once.
    package var files: [String] { certificateFile == keyFile ? [keyFile] : [certificateFile, keyFile] }

    /// Reads the files; blocks.
    ///
    /// A certificate and its key are two files: between the one's change and the other's the pair before stays.
    ///
    /// - Returns: whether there is a pair that can be used in them.
    @discardableResult
    package func read() -> Bool {
        do {
            let chain = try FileSystem.read(certificateFile, limit: Self.longestFile).bytes
            let key = try FileSystem.read(keyFile, limit: Self.longestFile).bytes
            let pair = CertifiedKey(chain: chain, key: Secret(bytes: key))
            try pair.check()
            current.withLock { $0 = pair }
            generation.add(1, ordering: .releasing)
            return true
        } catch {
            return false
        }
    }

    /// Different for each pair that was read.
    var version: Int { generation.load(ordering: .acquiring) }

    /// The pair; nil before there was one.
    var pair: CertifiedKey? { current.withLock { $0 } }
}

extension OwnCertificate: Equatable {
    /// Each is what the same watch has read again.
    package static func == (left: OwnCertificate, right: OwnCertificate) -> Bool { left === right }
}
