// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdSystem
internal import BearerdTLS
internal import Synchronization

/// Our own certificate for one or more upstreams, as last read from its files.
///
/// Connections take it from memory; the watcher of the files has it read again.
package final class OwnCertificate: Sendable {
    /// The largest file in bytes; more than any certificate chain or key needs.
    private static let longestFile = 1 << 20

    /// A PEM file with the certificate and its intermediates.
    package let certificateFile: String
    /// A PEM file with the private key.
    package let keyFile: String
    private let current = Mutex<(pair: CertifiedKey, end: Int64)?>(nil)
    /// Counts the pairs that were put in force, each in place of a different one.
    private let generation = Atomic<Int>(0)

    /// Makes an object without a certificate; call ``read()`` next.
    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }

    /// The files, each once.
    package var files: [String] { certificateFile == keyFile ? [keyFile] : [certificateFile, keyFile] }

    /// A certificate and key that were read and are not in force yet.
    package struct Renewal: Sendable {
        /// A closure, so that who imports this module needs to know nothing of the pair's type.
        fileprivate let put: @Sendable () -> Void

        /// Puts the pair in force, unless another one was put in force meanwhile.
        package func commit() { put() }
    }

    /// Reads the files without changing anything; blocks.
    ///
    /// A certificate and its key are two files. Between the changes of both the previous pair stays in force.
    ///
    /// - Returns: nil if the files hold no usable pair.
    package func renewal() -> Renewal? {
        let version = version
        guard let chain = try? FileSystem.read(certificateFile, limit: Self.longestFile).bytes,
            let key = try? FileSystem.read(keyFile, limit: Self.longestFile).bytes
        else { return nil }
        let pair = CertifiedKey(chain: chain, key: Secret(bytes: key))
        guard let summary = try? pair.check() else { return nil }
        let end = summary.end
        return Renewal { self.use(pair, until: end, after: version) }
    }

    /// - Parameters:
    ///   - end: the end of its validity, in seconds since 1970.
    ///   - version: the version that it replaces; another one stays.
    private func use(_ pair: CertifiedKey, until end: Int64, after version: Int) {
        current.withLock { current in
            guard self.version == version, current?.pair.isSame(as: pair) != true else { return }
            current = (pair, end)
            generation.add(1, ordering: .releasing)
        }
    }

    /// Reads the files and puts their pair in force; blocks.
    ///
    /// - Returns: true if the files hold a usable pair.
    @discardableResult
    package func read() -> Bool {
        guard let renewal = renewal() else { return false }
        renewal.commit()
        return true
    }

    /// Grows with each pair that is put in force.
    var version: Int { generation.load(ordering: .acquiring) }

    /// The pair in force; nil before the first.
    var pair: CertifiedKey? { current.withLock { $0?.pair } }

    /// The end of its validity in seconds since 1970; nil before the first.
    package var end: Int64? { current.withLock { $0?.end } }
}

extension OwnCertificate: Equatable {
    /// Compares identity: two objects are read again independently.
    package static func == (left: OwnCertificate, right: OwnCertificate) -> Bool { left === right }
}
