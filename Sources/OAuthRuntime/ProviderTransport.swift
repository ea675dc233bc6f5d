// SPDX-License-Identifier: Apache-2.0

package import HTTPClient
package import HTTPMessages
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

    package func send(_ request: TransferRequest) async throws(TransportError) -> ProviderResponse {
        do throws(TransferError) {
            let response = try await client.send(request, over: transport.withLock { $0 })
            var answer = ProviderResponse(
                status: response.status, fields: response.fields, body: response.body)
            answer.cutOff = response.cutOff.map(TransportError.init)
            return answer
        } catch {
            throw TransportError(error)
        }
    }
}

extension TransportError {
    /// What a failed transfer means to the engine.
    fileprivate init(_ error: TransferError) {
        switch error {
        case .notConnected(let cause) where error.isCertificate:
            self = .certificate("\(cause.reason); \(Self.advice(on: cause))")
        case .notConnected(let cause): self = .unreachable(cause.reason)
        case .timedOut: self = .timedOut
        case .interrupted: self = .interrupted("the connection ended")
        case .tooLarge: self = .answerTooLarge
        case .malformed: self = .notHTTP("not an HTTP answer")
        case .cancelled: self = .interrupted("cancelled")
        case .other(let error): self = .interrupted(error.reason)
        }
    }

    /// The key that mends a refused certificate.
    private static func advice(on cause: UpstreamError) -> String {
        switch cause {
        case .tlsCertificate(let fault):
            fault.isOfAuthority
                ? "ca_file names the authority to trust"
                : "the server's certificate is at fault, not ca_file"
        default: "look at client_certificate_file and client_key_file"
        }
    }
}
