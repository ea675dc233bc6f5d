// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OAuth

/// Carries requests to the authorization server by async-http-client, for programs on swift-nio.
struct AsyncHTTPClientTransport: TokenTransport {
    /// Made with `redirectConfiguration: .disallow`.
    let client: HTTPClient

    func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        var message = HTTPClientRequest(url: request.address)
        message.method = HTTPMethod(rawValue: request.methodName)
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        do {
            let (seconds, attoseconds) = request.longestWait.components
            let limit = TimeAmount.nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            let response = try await client.execute(message, timeout: limit)
            let body = try await response.body.collect(upTo: request.maximumAnswerBytes)
            return TransportResponse(
                status: Int(response.status.code),
                headers: response.headers.map { NamedValue($0.name, $0.value) },
                body: Array(body.readableBytesView))
        } catch {
            throw TransportError(error)
        }
    }
}

extension TransferRequest {
    /// How long an answer is awaited: longer once the request is sent, where its answer could not be had again. Zero means for ever.
    fileprivate var longestWait: Duration {
        let limit = max(timeLimit, sentTimeLimit ?? .zero)
        return limit > .zero ? limit : .seconds(24 * 3600)
    }
}

extension TransportError {
    /// Only what happens before a request is sent is `unreachable`.
    fileprivate init(_ error: any Error) {
        switch error {
        case is NIOTooManyBytesError: self = .responseTooLarge
        case is NIOConnectionError: self = .unreachable("nobody accepts a connection")
        case HTTPClientError.connectTimeout: self = .unreachable("no connection in time")
        case HTTPClientError.deadlineExceeded, HTTPClientError.readTimeout: self = .timedOut
        default: self = .interrupted("the connection ended")
        }
    }
}
