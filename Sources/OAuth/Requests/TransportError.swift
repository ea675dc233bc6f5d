// SPDX-License-Identifier: Apache-2.0

/// Why no whole response arrived; the reasons are texts of the transport library, never of the peer.
public enum TransportError: ExplainedError, Equatable, Sendable {
    /// The name did not resolve, or no connection could be made; the request was not sent.
    case unreachable(String)
    /// The server's certificate does not verify, or TLS could not be set up as configured.
    case certificate(String)
    /// Whoever sends it said no once the connection stood; the server has seen nothing of the request.
    case withheld
    /// The time limit passed; the server may have acted on the request.
    case timedOut
    /// The connection ended early; the server may have acted on the request.
    case interrupted(String)
    /// The response was larger than allowed.
    case responseTooLarge
    /// The server did not answer in HTTP.
    case notHTTP(String)
}

extension TransportError {
    /// The reason, for a person.
    public var sentence: String {
        switch self {
        case .unreachable(let reason): "the server cannot be reached: \(reason.shownReason)"
        case .certificate(let reason): "no TLS with the server: \(reason.shownReason)"
        case .withheld: "the request must not be sent any more"
        case .timedOut: "the server did not answer in time"
        case .interrupted(let reason): "the answer broke off: \(reason.shownReason)"
        case .responseTooLarge: "the answer is larger than allowed"
        case .notHTTP(let reason): "what the server answers is no HTTP: \(reason.shownReason)"
        }
    }
}
