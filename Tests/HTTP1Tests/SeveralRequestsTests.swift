// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP1
import BearerdHTTPMessages
import Testing

/// What a parser remembers of one request decides nothing about the next one.
@Suite struct `Requests on one connection` {
    /// The `Host` of a request that `parser` takes; nil for one that it refuses for that.
    private static func taken(_ host: String, by parser: inout RequestParser) -> String? {
        var request = HTTPRequest()
        let text = Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
        do throws(HTTPParseError) {
            let length = try parser.parse(text.span, into: &request)
            return length == text.count ? request.fields[.host] : "incomplete"
        } catch {
            return error == .malformedHost ? nil : "\(error)"
        }
    }

    @Test(arguments: ["a b", "a@b", "a:x", "[::1", "exampl/", "example:123456"])
    func `are judged by their own Host`(malformed: String) {
        var parser = RequestParser()
        for host in ["example", "example", "[::1]:80", "example:12345", String(repeating: "h", count: 300)] {
            let first = Self.taken(host, by: &parser)
            let wrong = Self.taken(malformed, by: &parser)
            let second = Self.taken(host, by: &parser)
            #expect(first == host && wrong == nil && second == host)
        }
    }

    @Test(arguments: [
        "", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\nX: ", "GET / HTTP/1.1\r\nHost: b@c\r\n\r\n",
    ])
    func `on another connection begin anew, whatever came of the last one`(rest: String) {
        var parser = RequestParser()
        var request = HTTPRequest()
        let closing = Array(
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\n".utf8)
        #expect((try? parser.parse(closing.span, into: &request)) == closing.count)
        #expect(!parser.isPersistent)
        _ = try? parser.parse(Array(rest.utf8).span, into: &request)

        parser.begin(limits: HeadLimits(headerBytes: 100, maxFields: 2))
        #expect(parser.isPersistent)
        let next = Array("POST /x HTTP/1.1\r\nHost: d\r\nX: 1\r\n\r\n".utf8)
        #expect((try? parser.parse(next.span, into: &request)) == next.count)
        #expect(request.fields[.host] == "d" && request.targetBytes == Array("/x".utf8))
        #expect(request.fields.count(of: .contentLength) == 0 && request.fields.entries.count == 2)

        parser.begin(limits: HeadLimits(headerBytes: 100, maxFields: 1))
        #expect(throws: HTTPParseError.tooManyFields) { try parser.parse(next.span, into: &request) }
    }

    @Test func `may have any number of lines, one after the other`() throws {
        var parser = RequestParser(limits: HeadLimits(headerBytes: 65536, maxFields: 500))
        var request = HTTPRequest()
        for count in [0, 7, 8, 9, 300, 1, 16, 17, 0] {
            let lines = (0..<count).map { "X-\($0): value \($0)\r\n" }.joined()
            let text = Array("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n".utf8)
            #expect(try parser.parse(text.span, into: &request) == text.count)
            #expect(request.fields.entries.count == count + 1)
            var written: [UInt8] = []
            request.serialize(into: &written)
            #expect(written == text)
        }
    }
}
