// SPDX-License-Identifier: Apache-2.0

/// Why no whole answer of the authorization server arrived.
///
/// The associated reasons are the transport library's words, never the peer's.
public enum TransportError: Error, Equatable, Sendable {
    /// The name did not resolve, or no connection could be made: the request was not seen.
    case unreachable(String)
    /// The server's certificate does not verify, or TLS could not be set up as configured.
    case certificate(String)
    /// The time limit passed; the request may have been acted upon.
    case timedOut
    /// The connection ended before the answer did; the request may have been acted upon.
    case interrupted(String)
    /// The answer was larger than allowed.
    case answerTooLarge
    /// What came back was not HTTP.
    case notHTTP(String)
}
