// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
import BearerdHTTPClient
import OAuth

/// The way to authorization servers.
public struct ConnectionSettings: Sendable {
    /// The proxy to a server; loopback never uses one.
    public enum Proxy: Sendable {
        /// No proxy, whatever the environment says.
        case none
        /// The proxy that `https_proxy`, `no_proxy` and so on name.
        case environment
        /// `http://`, `https://` or `socks5h://`, with user information if the proxy needs it.
        case url(Secret)
    }

    /// PEM file with the certificate authorities to trust in place of the system's.
    public var caFile: String?
    /// PEM file with the client's own certificate (RFC 8705), and its key unless that is in ``clientKeyFile``; both
    /// are read again before each request.
    public var clientCertificateFile: String?
    /// PEM file with that certificate's key.
    public var clientKeyFile: String?
    /// The proxy to use.
    public var proxy = Proxy.none

    /// The system's certificate authorities, and no proxy.
    public init(caFile: String? = nil) { self.caFile = caFile }

    /// - Throws: `AuthRuntimeError` for files that cannot be read, and for an invalid proxy.
    func transport(_ trust: TrustStores) throws(AuthRuntimeError) -> Transport {
        do {
            var transport = Transport(trust: try trust.store(caFile: caFile))
            transport.ownCertificate = clientCertificateFile.map { file in
                trust.ownCertificates.certificate(
                    certificateFile: file, keyFile: clientKeyFile ?? file)
            }
            transport.proxy = try proxy.setting
            if transport.proxy.mayBeEncrypted { transport.proxyTrust = try? trust.store(caFile: nil) }
            return transport
        } catch {
            throw AuthRuntimeError(error)
        }
    }
}

extension ConnectionSettings: CustomStringConvertible {
    /// The settings in one line, without the proxy's URL, which may hold a password.
    public var description: String {
        let proxy =
            switch proxy {
            case .none: "no proxy"
            case .environment: "the environment's proxy"
            case .url: "a proxy"
            }
        let certificate = clientCertificateFile.map { "the certificate \($0)" } ?? "no client certificate"
        return
            "\(caFile.map { "the authorities \($0)" } ?? "the system's authorities"), \(certificate), \(proxy)"
            .onOneLine
    }
}

extension ConnectionSettings.Proxy {
    fileprivate var setting: Transport.Proxy {
        get throws(AuthRuntimeError) {
            switch self {
            case .none: return .none
            case .environment: return .environment
            case .url(let url):
                let text = url.withPlaintext { $0 }
                guard ["http://", "https://", "socks5h://"].contains(where: text.lowercased().hasPrefix)
                else { throw AuthRuntimeError(reason: "the proxy is no http, https or socks5h URL") }
                return .url(text)
            }
        }
    }
}
