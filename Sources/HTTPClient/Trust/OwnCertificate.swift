// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import Synchronization
internal import BearerdSystem
internal import BearerdTLS

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

    /// A pair that was read and is not in force yet.
    package struct Renewal: Sendable {
        fileprivate let certificate: OwnCertificate
        fileprivate let pair: CertifiedKey
        fileprivate let version: Int

        /// Has connections use the pair, unless another one was read since.
        package func commit() {
            certificate.current.withLock { current in
                guard certificate.version == version else { return }
                current = pair
                certificate.generation.add(1, ordering: .releasing)
            }
        }
    }

    /// Reads the files and changes nothing; blocks.
    ///
    /// A certificate and its key are two files: between the one's change and the other's the pair before stays.
    ///
    /// - Returns: nil if there is no usable pair in them.
    package func renewal() -> Renewal? {
        let version = version
        guard let chain = try? FileSystem.read(certificateFile, limit: Self.longestFile).bytes,
            let key = try? FileSystem.read(keyFile, limit: Self.longestFile).bytes
        else { return nil }
        let pair = CertifiedKey(chain: chain, key: Secret(bytes: key))
        guard (try? pair.check()) != nil else { return nil }
        return Renewal(certificate: self, pair: pair, version: version)
    }

    /// Reads the files and has connections use the pair that is in them; blocks.
    ///
    /// - Returns: whether there is one.
    @discardableResult
    package func read() -> Bool {
        guard let renewal = renewal() else { return false }
        renewal.commit()
        return true
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
