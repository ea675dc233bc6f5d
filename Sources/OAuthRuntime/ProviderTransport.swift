// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
package import BearerdHTTPClient
internal import BearerdHTTPExchange
package import BearerdHTTPMessages
package import BearerdSystem
package import OAuth
import Synchronization

/// A transport to an authorization server by libcurl, with one identity's certificates and proxy.
package final class ProviderTransport: TokenTransport {
    private let client: TransferClient
    private let transport: Mutex<Transport>
    /// The time when the reading of the authorities in force began.
    private let trustReadAt = Mutex(ContinuousClock.now)
    /// Reads our own certificate again before each request.
    private let thread: ThreadExecutor?
    /// Kept alive because it owns the threads.
    private let owner: AuthRuntime?

    /// - Parameters:
    ///   - thread: reads our own certificate again before each request; nil if it is watched elsewhere.
    ///   - owner: the runtime whose threads are used.
    package init(
        client: TransferClient, transport: Transport, readingOn thread: ThreadExecutor? = nil,
        keeping owner: AuthRuntime? = nil
    ) {
        self.owner = owner
        self.client = client
        self.transport = Mutex(transport)
        self.thread = thread
    }

    package var ownCertificate: OwnCertificate? { transport.withLock { $0.ownCertificate } }

    /// Replaces the trusted authorities, from the next request on, unless those in force were read later.
    ///
    /// - Parameter readAt: when their reading began, which may end after one that began later: a disk may stand still.
    package func replaceTrust(with trust: TrustStore, readAt: ContinuousClock.Instant) {
        trustReadAt.withLock { present in
            guard readAt >= present else { return }
            present = readAt
            transport.withLock { $0.trust = trust }
        }
    }

    /// The longest wait for our certificate to be read; after that the one before is used.
    private static let certificateLimit = Duration.seconds(1)

    package func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        var request = request
        if let thread, let ownCertificate {
            let start = ContinuousClock.now
            _ = await client.loop.value(within: Self.certificateLimit) {
                await Task(executorPreference: thread) { ownCertificate.read() }.value
            }
            if request.timeLimit > .zero {
                request.timeLimit = max(request.timeLimit - start.duration(to: .now), .milliseconds(1))
            }
        }
        let transport = transport.withLock { $0 }
        do throws(TransferError) {
            let response = try await client.send(request, over: transport)
            var answer = TransportResponse(
                status: response.status, fields: response.fields, body: response.body)
            answer.cutOff = response.cutOff.map { TransportError($0, over: transport, to: request.url) }
            return answer
        } catch {
            throw TransportError(error, over: transport, to: request.url)
        }
    }
}

extension TransportError {
    /// Turns a failed transfer into the engine's error.
    fileprivate init(_ error: TransferError, over transport: Transport, to url: HTTPURL) {
        switch error {
        case .notConnected(let cause) where error.isCertificate:
            self = .certificate("\(cause.reason(over: transport)); \(Self.advice(on: cause))")
        case .notConnected(let cause): self = .unreachable(cause.reason(over: transport))
        case .foreign, .tooFar: self = .unreachable(error.reason)
        case .withheld: self = .withheld
        case .timedOut: self = .timedOut
        case .unanswered where url.scheme == .http:
            self = .interrupted("the connection ended; does it want https://?")
        case .unanswered, .interrupted: self = .interrupted("the connection ended")
        case .tooLarge: self = .responseTooLarge
        case .malformed: self = .notHTTP("not an HTTP answer")
        case .cancelled: self = .interrupted("cancelled")
        case .other(let error): self = .interrupted(error.reason)
        }
    }

    /// The advice for a certificate that was refused.
    private static func advice(on cause: UpstreamError) -> String {
        switch cause {
        case .tlsCertificate(let fault):
            fault.isOfAuthority
                ? "ca_file names the authority to trust"
                : "the server's certificate is at fault, not ca_file"
        case .proxy(let failure):
            failure.certificateFault?.isOfAuthority == true
                ? ProxyFailure.authorityAdvice : "the proxy's certificate is at fault"
        default: "look at client_certificate_file and client_key_file"
        }
    }
}
