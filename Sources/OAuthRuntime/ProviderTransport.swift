// SPDX-License-Identifier: Apache-2.0

package import HTTPClient
package import OAuth
import Synchronization

/// The engine's way to an authorization server: libcurl, with one identity's certificates and proxy.
package final class ProviderTransport: TokenTransport {
    private let client: TransferClient
    private let transport: Mutex<Transport>

    package init(client: TransferClient, transport: Transport) {
        self.client = client
        self.transport = Mutex(transport)
    }

    /// Trusts other authorities from the next request on.
    package func replaceTrust(with trust: TrustStore) {
        transport.withLock { $0.trust = trust }
    }

    package func send(_ request: ProviderRequest) async throws(TransportError) -> ProviderResponse {
        let transfer = TransferRequest(
            method: request.method, url: request.url, fields: request.fields, body: request.body,
            timeLimit: request.timeLimit, maximumBodyBytes: request.maximumAnswerBytes)
        do throws(TransferError) {
            let response = try await client.send(transfer, over: transport.withLock { $0 })
            return ProviderResponse(status: response.status, fields: response.fields, body: response.body)
        } catch {
            throw TransportError(error)
        }
    }
}

extension TransportError {
    /// What a failed transfer means to the engine.
    fileprivate init(_ error: TransferError) {
        switch error {
        case .notConnected(let reason) where error.isCertificate: self = .certificate(reason.summary)
        case .notConnected(let reason): self = .unreachable(reason.summary)
        case .timedOut: self = .timedOut
        case .interrupted: self = .interrupted("the connection ended")
        case .tooLarge: self = .answerTooLarge
        case .malformed: self = .notHTTP("not an HTTP answer")
        case .cancelled: self = .interrupted("cancelled")
        case .other(let error): self = .interrupted(error.reason)
        }
    }
}

extension UpstreamError {
    /// What a person reads of it.
    fileprivate var summary: String {
        switch self {
        case .connectionRefused: "connection refused"
        case .connectionTimeout: "connecting took too long"
        case .unreachable: "no route leads there"
        case .dnsError: "the name has no address"
        case .dnsTimeout: "the name servers did not answer"
        case .tlsCertificate: "the certificate does not verify"
        case .tlsHandshake: "the TLS handshake failed"
        case .clientCertificate: "the client certificate or its key cannot be used"
        case .proxyFailed: "the proxy did not let us through"
        case .noDescriptors: "no descriptor is left"
        case .busy: "no connection came free"
        case .cancelled: "cancelled"
        case .other(let error): error.reason
        }
    }
}
