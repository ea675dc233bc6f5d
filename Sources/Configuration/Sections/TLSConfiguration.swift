// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
package import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdSystem
package import BearerdTLS
package import OAuth

/// The files of HTTPS listeners (`tls`).
package struct TLSConfiguration: Sendable {
    /// Our certificate and its intermediate certificates, in PEM.
    package let certificateFile: String
    /// The certificate's key, in PEM.
    package let keyFile: String
    /// The authorities that must have issued clients' certificates, in PEM; nil if clients need none.
    package let clientCAFile: String?
    /// The clients of these authorities that may come in, by the names in their certificates; nil for all.
    package let clientNames: CertificateNameRules?
    /// The certificate as it was when the configuration was read.
    package let certificate: CertificateSummary
    /// The number of authorities at that time.
    package let clientAuthorityCount: Int?

    /// Makes a server context from the present files; blocks while it reads them.
    ///
    /// - Throws: if a file cannot be read or used, or others may write to it.
    package func load() throws(CredentialError) -> ServerContext {
        let chain = try SecretFile.contents(of: certificateFile, limit: Self.longestFile).bytes
        let key = Secret(bytes: try SecretFile.contents(of: keyFile).bytes)
        var authorities: [UInt8]?
        if let clientCAFile {
            authorities = try SecretFile.contents(of: clientCAFile, limit: Self.longestFile).bytes
        }
        do throws(ContextError) {
            return try ServerContext(chain: chain, key: key, clientAuthorities: authorities)
        } catch {
            throw CredentialError(reason: "\(file(of: error)) \(error.objection)")
        }
    }

    package var files: [String] { [certificateFile, keyFile] + [clientCAFile].compactMap(\.self) }

    /// The file at fault.
    private func file(of error: ContextError) -> String {
        switch error.key {
        case .certificateFile: certificateFile
        case .keyFile: keyFile
        case .clientCAFile, .clientAllow: clientCAFile ?? certificateFile
        }
    }

    /// More bytes than any chain has; a file of authorities may be large.
    fileprivate static let longestFile = 4 << 20
}

extension TLSConfiguration {
    enum Key: String, ConfigurationKey {
        case certificateFile = "certificate_file"
        case keyFile = "key_file"
        case clientCAFile = "client_ca_file"
        case clientAllow = "client_allow"
    }

    /// The keys of `tls.client_allow`.
    enum NameKey: String, ConfigurationKey {
        case dns
        case uri
    }

    init?(reading section: Section<Key>) {
        section.require(.certificateFile)
        section.require(.keyFile)
        let certificateFile = section.secretFile(.certificateFile, isPublic: true, limit: Self.longestFile)
        let keyFile = section.secretFile(.keyFile)
        let clientCAFile = section.secretFile(.clientCAFile, isPublic: true, limit: Self.longestFile)
        let clientNames =
            section.has(.clientAllow) ? CertificateNameRules(reading: section.section(.clientAllow)) : nil
        if section.has(.clientAllow), !section.has(.clientCAFile), !section.isInDoubt(.clientCAFile) {
            section.error(
                .clientAllow, "needs client_ca_file: without it clients show no certificate")
        }
        guard let certificateFile, let keyFile, clientCAFile != nil || !section.has(.clientCAFile)
        else { return nil }
        do throws(ContextError) {
            let context = try ServerContext(
                chain: Self.bytes(of: certificateFile), key: Secret(bytes: Self.bytes(of: keyFile)),
                clientAuthorities: clientCAFile.map(Self.bytes))
            self.init(
                certificateFile: certificateFile, keyFile: keyFile, clientCAFile: clientCAFile,
                clientNames: clientNames, certificate: context.certificate,
                clientAuthorityCount: context.clientAuthorityCount)
        } catch {
            let path = section.value(error.key, .text)?.value ?? ""
            section.error(error.key, "\(path) \(error.objection)")
            return nil
        }
        warn(section)
    }

    /// The bytes of a file that was checked a moment ago.
    private static func bytes(of path: String) -> [UInt8] {
        (try? SecretFile.contents(of: path, limit: longestFile).bytes) ?? []
    }

    private func warn(_ section: Section<Key>) {
        let now = Int64(WallClock.secondsSinceEpoch)
        if certificate.names.isEmpty {
            section.warn(
                .certificateFile,
                "\(certificateFile) has no subjectAltName: clients will not know it as anybody's")
        }
        if certificate.start > now {
            section.warn(
                .certificateFile,
                "\(certificateFile) is not valid before \(Timestamp.text(unixSeconds: certificate.start))")
        }
        if certificate.expiresSoon {
            section.warn(
                .certificateFile,
                "\(certificateFile) expires soon, at \(Timestamp.text(unixSeconds: certificate.end))")
        }
    }
}

extension CertificateNameRules {
    /// Reads `client_allow`; reports a list that lets nobody in.
    fileprivate init(reading section: Section<TLSConfiguration.NameKey>) {
        self.init(
            hosts: section.oneOrMany(.dns, .certificateHost)?.map(\.value) ?? [],
            uris: section.oneOrMany(.uri, .certificateURI)?.map(\.value) ?? [])
        guard hosts.isEmpty, uris.isEmpty, section.isMap, !section.isInDoubt(.dns), !section.isInDoubt(.uri)
        else { return }
        section.reading.error(
            "lets nobody in; list names under dns or uri, or leave it out for every client of the authority",
            at: section.place)
    }
}

extension ValueKind<CertificateNamePattern> {
    fileprivate static var certificateHost: ValueKind {
        reading("a host name like app.example.com, in which '*' stands for one whole label") {
            CertificateNamePattern(host: $0)
        }
    }

    fileprivate static var certificateURI: ValueKind {
        reading("a URI like spiffe://example.org/ns/*/sa/app, in which '*' stands for one whole segment") {
            CertificateNamePattern(uri: $0)
        }
    }
}

extension CertificateSummary {
    /// True if the log tells of its end already.
    fileprivate var expiresSoon: Bool { end < Int64(WallClock.secondsSinceEpoch) + CertificateNotices.soon }
}

extension ContextError {
    /// The key whose file is at fault.
    fileprivate var key: TLSConfiguration.Key {
        switch self {
        case .noCertificate, .unusableCertificate, .expired, .library: .certificateFile
        case .noKey, .mismatch: .keyFile
        case .noAuthority: .clientCAFile
        }
    }

    /// The problem with that file, after its name.
    fileprivate var objection: String {
        switch self {
        case .noCertificate: "holds no certificate in PEM"
        case .unusableCertificate(let reason): "holds a certificate that cannot be used: \(reason)"
        case .expired(let end): "holds a certificate that expired at \(Timestamp.text(unixSeconds: end))"
        case .noKey: "holds no private key in PEM that can be used without a passphrase"
        case .mismatch: "holds another key than the one that certificate_file certifies"
        case .noAuthority: "holds no certificate in PEM"
        case .library(let reason): "cannot be used: \(reason)"
        }
    }
}
