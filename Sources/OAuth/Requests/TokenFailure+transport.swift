// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
package import BearerdHTTPMessages

extension TokenFailure {
    /// The failure of a request that got no response.
    init(_ error: TransportError, to request: TransferRequest) {
        let server = request.url.hostAndPort
        // A program's own transport may put text of the peer into the reason.
        let shown = SecretListing.cleared
        switch error {
        case .unreachable(let reason):
            self.init(.transient, .unreachable, detail: "no connection to \(server): \(shown(reason))")
        case .certificate(let reason):
            self.init(.misconfigured, .certificate, detail: "no TLS with \(server): \(shown(reason))")
        case .withheld:
            self.init(.transient, .superseded, detail: error.sentence)
        case .timedOut:
            let seconds = (request.sentTimeLimit ?? request.timeLimit) / .seconds(1)
            self.init(
                .transient, .timedOut,
                detail: "\(request.url.place) did not answer within \(Duration.seconds(seconds).inSeconds)")
        case .interrupted(let reason):
            self.init(
                .transient, .interrupted,
                detail: "the answer of \(request.url.place) broke off: \(shown(reason))")
        case .responseTooLarge:
            self.init(
                .transient, .responseTooLarge,
                detail:
                    "the answer of \(request.url.place) is larger than \(request.maximumAnswerBytes) bytes")
        case .notHTTP(let reason):
            self.init(
                .transient, .notHTTP,
                detail: "what \(request.url.place) answers is no HTTP: \(shown(reason))")
        }
        self.server = server
    }

    /// The failure of a refresh that `place` has not answered within `limit`, and may answer yet.
    init(unansweredAt place: String, after limit: Duration) {
        self.init(
            .transient, .timedOut,
            detail:
                "\(place) did not answer within \(limit.inSeconds): its answer is taken whenever "
                + "it comes, and the refresh token is not sent again before it answers something else")
        server = HTTPURL(place)?.hostAndPort
    }
}

extension Duration {
    /// The time for messages, to a tenth of a second: `10 s`, `0.3 s`.
    package var inSeconds: String {
        let tenths = (self / .milliseconds(100)).rounded()
        return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10)) s" : "\(tenths / 10) s"
    }
}

extension HTTPURL {
    /// The URL for error messages: without its query, without a path that repeats a secret, at most 303 bytes long.
    package var place: String {
        let hasPath = socketPath == nil && !SecretListing.isRepeated(in: path)
        let whole = hasPath ? origin + path : origin
        return whole.utf8.count <= 300 ? whole : whole.prefix(300) + "..."
    }

    /// Host and port, or the path of a Unix socket, for error messages.
    var hostAndPort: String {
        if let socketPath { return socketPath }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
