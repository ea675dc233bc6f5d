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
}
