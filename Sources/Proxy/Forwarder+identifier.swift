// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import HTTPTypes

/// What joins a request's line in the log, the upstream's and our own answer.
extension Forwarder {
    /// More of an identifier is not sent back: a client may have chosen it.
    private static let longestIdentifier = 128

    /// Gives a request an `X-Request-Id` if it came without one.
    @inline(__always)
    func identify(_ exchange: Exchange) {
        let connection = exchange.connection
        if connection.request.fields.has(.xRequestID) {
            guard connection.request.fields.bytes(of: .xRequestID)?.isEmpty == true else { return }
            connection.request.fields.remove(.xRequestID)
        }
        connection.request.fields.append(line: requestIDs.nextLine(), of: .xRequestID)
    }

    /// Puts the request's identifier into an answer of our own.
    func tellIdentifier(of exchange: Exchange, in head: inout HTTPResponse) {
        identify(exchange)
        guard let identifier = exchange.connection.request.fields.bytes(of: .xRequestID) else { return }
        let told = identifier.prefix(Self.longestIdentifier)
        head.fields.append(.xRequestID, bytes: told.span)
    }
}
