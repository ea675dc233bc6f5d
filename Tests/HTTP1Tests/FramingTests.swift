// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTP1
import BearerdHTTPMessages
import Testing

/// RFC 9112 §6, every doubt refused in both directions.
@Suite struct `Framing` {
    /// Framing fields, and what is wrong with them.
    static let refused = Refusal.table([
        .conflictingFraming: [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        ],
        .repeatedContentLength: [
            "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\ncontent-length: 6\r\n",
        ],
        .malformedContentLength: [
            "Content-Length: 5, 5\r\n", "Content-Length: 5,6\r\n", "Content-Length:\r\n",
            "Content-Length: -1\r\n", "Content-Length: +5\r\n", "Content-Length: 0x5\r\n",
            "Content-Length: 5 5\r\n", "Content-Length: 5.0\r\n", "Content-Length: 5e1\r\n",
            "Content-Length: five\r\n", "Content-Length: \u{B2}\r\n",
            "Content-Length: 9223372036854775808\r\n", "Content-Length: 18446744073709551616\r\n",
            "Content-Length: 99999999999999999999999\r\n",
        ],
        .unknownTransferCoding: [
            "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: gzip;level=1, chunked\r\n",
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding: chunkedx\r\n",
        ],
        .malformedTransferEncoding: [
            "Transfer-Encoding: chunked, gzip\r\n", "Transfer-Encoding: chunked, identity\r\n",
            "Transfer-Encoding: chunked, chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
            "Transfer-Encoding: chunked;q=1\r\n", "Transfer-Encoding: chunked ;\r\n",
            "Transfer-Encoding: \"chunked\"\r\n", "Transfer-Encoding: chunk ed\r\n",
            "Transfer-Encoding:\r\n", "Transfer-Encoding: chunked,\r\n", "Transfer-Encoding: ,chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n", "Transfer-Encoding: \u{E9}\r\n",
        ],
    ])

    @Test(arguments: refused) func `ambiguous framing is refused in a request`(refusal: Refusal) throws {
        let head = latin1("POST / HTTP/1.1\r\nHost: a\r\n") + refusal.bytes + latin1("\r\n")
        var (parser, request) = (RequestParser(), HTTPRequest())
        let count = try parser.parse(head.span, into: &request)
        #expect(count == head.count)
        #expect(throws: refusal.error) { try parser.framing.get() }
    }

    @Test(arguments: refused) func `ambiguous framing is refused in a response`(refusal: Refusal) throws {
        let head = latin1("HTTP/1.1 200 OK\r\n") + refusal.bytes + latin1("\r\n")
        var (parser, response) = (ResponseParser(), HTTPResponse())
        let count = try parser.parse(head.span, into: &response)
        #expect(count == head.count)
        #expect(throws: refusal.error) { try parser.bodyFraming(of: 200, answering: .get) }
        #expect(throws: refusal.error) { try parser.bodyFraming(of: 200, answering: .head) }
    }

    @Test func `a transfer coding in HTTP 1.0 is refused`() throws {
        let request = try #require(Self.request("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"))
        #expect(throws: HTTPParseError.transferEncodingInHTTP10) { try request.framing.get() }
        let response = try #require(Self.response("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
        #expect(throws: HTTPParseError.transferEncodingInHTTP10) {
            try response.parser.bodyFraming(of: 200, answering: .get)
        }
    }

    @Test(arguments: [
        ("", BodyFraming.none), ("Content-Length: 0\r\n", .length(0)), ("content-length: 5\r\n", .length(5)),
        ("Content-Length:\t007 \r\n", .length(7)),
        ("Content-Length: 9223372036854775807\r\n", .length(9_223_372_036_854_775_807)),
        ("Transfer-Encoding: chunked\r\n", .chunked), ("transfer-encoding:  Chunked\r\n", .chunked),
    ])
    func `clear framing of a request is understood`(fields: String, framing: BodyFraming) throws {
        let request = try #require(Self.request("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"))
        #expect(try request.framing.get() == framing)
    }

    @Test(arguments: [
        ("200 OK", HTTPMethod.get, "", BodyFraming.untilClose),
        ("200 OK", .get, "Content-Length: 5\r\n", .length(5)),
        ("200 OK", .get, "Transfer-Encoding: chunked\r\n", .chunked),
        ("200 OK", .head, "Content-Length: 5\r\n", .none), ("200 OK", .head, "", .none),
        ("204 No Content", .get, "Content-Length: 5\r\n", .none),
        ("304 Not Modified", .get, "Content-Length: 5\r\n", .none),
        ("100 Continue", .post, "", .none), ("103 Early Hints", .get, "Content-Length: 5\r\n", .none),
        ("101 Switching Protocols", .get, "", .none), ("404 Not Found", .post, "", .untilClose),
    ])
    func `clear framing of a response is understood`(
        status: String, method: HTTPMethod, fields: String, framing: BodyFraming
    ) throws {
        let response = try #require(Self.response("HTTP/1.1 \(status)\r\n\(fields)\r\n"))
        #expect(try response.parser.bodyFraming(of: response.status, answering: method) == framing)
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: x, CLOSE\r\n", false), ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.0", "Connection: keep-alive, close\r\n", false),
        ("HTTP/1.1", "Connection: x\r\nConnection: close\r\n", false),
        ("HTTP/1.1", "Connection: closed\r\n", true),
    ])
    func `persistence follows version and Connection`(
        version: String, fields: String, persistent: Bool
    ) throws {
        #expect(
            try #require(Self.request("GET / \(version)\r\nHost: a\r\n\(fields)\r\n")).isPersistent
                == persistent)
        #expect(
            try #require(Self.response("\(version) 200 OK\r\n\(fields)\r\n")).parser.isPersistent
                == persistent)
    }

    private static func request(_ text: String) -> RequestParser? {
        var (parser, request) = (RequestParser(), HTTPRequest())
        let count = try? parser.parse(latin1(text).span, into: &request)
        return count == text.utf8.count ? parser : nil
    }

    private static func response(_ text: String) -> (parser: ResponseParser, status: Int)? {
        var (parser, response) = (ResponseParser(), HTTPResponse())
        let count = try? parser.parse(latin1(text).span, into: &response)
        return count == text.utf8.count ? (parser, response.status) : nil
    }
}
