// SPDX-License-Identifier: Apache-2.0
//
// As much of async-http-client as the example needs; it asks nobody.

import NIOCore
import NIOHTTP1

public struct HTTPClientRequest: Sendable {
    public struct Body: Sendable {
        public static func bytes(_ buffer: ByteBuffer) -> Body { Body() }
    }

    public var method = HTTPMethod.GET
    public var headers = HTTPHeaders()
    public var body: Body?

    public init(url: String) {}
}

public struct HTTPClientResponse: Sendable {
    public struct Body: Sendable {
        public func collect(upTo maxBytes: Int) async throws -> ByteBuffer { ByteBuffer(bytes: []) }
    }

    public var status: HTTPResponseStatus
    public var headers: HTTPHeaders
    public var body: Body
}

public struct HTTPClientError: Error, Equatable {
    private let number: Int

    public static let connectTimeout = HTTPClientError(number: 1)
    public static let deadlineExceeded = HTTPClientError(number: 2)
    public static let readTimeout = HTTPClientError(number: 3)

    public static func ~= (pattern: HTTPClientError, error: any Error) -> Bool { error as? HTTPClientError == pattern }
}

public final class HTTPClient: Sendable {
    public enum EventLoopGroupProvider { case singleton }

    public struct Configuration: Sendable {
        public struct RedirectConfiguration: Sendable {
            public static let disallow = RedirectConfiguration()
        }

        public var redirectConfiguration = RedirectConfiguration()

        public init() {}
    }

    public init(eventLoopGroupProvider: EventLoopGroupProvider, configuration: Configuration) {}

    public func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
        throw HTTPClientError.connectTimeout
    }

    public func shutdown() async throws {}
}
