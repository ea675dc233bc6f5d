// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTP1
import BearerdHTTPMessages
import Testing

/// What passes, passes as it came.
@Suite struct `What passes` {
    @Test func `order, case and multiplicity of fields are kept`() throws {
        let text =
            "GET /a?b HTTP/1.1\r\nhOsT: a\r\nX-b: 1\r\nSet-Cookie: a\r\nx-B: 2\r\nset-cookie: b\r\nX-b: 1\r\n\r\n"
        #expect(try Self.serialized(request: text) == text)
    }

    @Test func `white space around values is normalised, the rest copied`() throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nA:b\r\nC:  d\t\r\nE:\r\nF: \r\nG: h  i\r\nJ:\tk\r\n\r\n"
        let normal = "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\nE: \r\nF: \r\nG: h  i\r\nJ: k\r\n\r\n"
        #expect(try Self.serialized(request: text) == normal)
        #expect(try Self.serialized(request: normal) == normal)
    }

    @Test func `bytes from 0x80 on pass in targets, values and reason phrases`() throws {
        let request =
            "GET /\u{C3}\u{A9}|[]{}\"<>^`\\?\u{FF} HTTP/1.1\r\nHost: a\r\nX: \u{E9}\u{80}\u{FF} a\tb\r\n\r\n"
        #expect(try Self.serialized(request: request) == request)
        let response = "HTTP/1.1 200 caf\u{E9}\r\nX: \u{E9}\r\n\r\n"
        #expect(try Self.serialized(response: response) == response)
    }

    @Test func `one empty line before a request is skipped and counted`() {
        let text = latin1("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        for feeding in Feeding.allCases {
            let (outcome, request) = Invariants.parse(request: text, feeding)
            #expect(outcome == .complete(text.count))
            #expect(request.method == .get)
            #expect(request.fields[.host] == "a")
        }
    }

    @Test func `HTTP 1.0 needs no Host`() {
        let (outcome, request) = Invariants.parse(request: latin1("GET / HTTP/1.0\r\n\r\n"), .whole)
        #expect(outcome == .complete(18))
        #expect(request.version == .http10)
    }

    @Test func `Connection is looked at anew once it has changed`() throws {
        var (parser, request) = (RequestParser(), HTTPRequest())
        let bytes = latin1("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n")
        #expect(try parser.parse(bytes.span, into: &request) == bytes.count)
        #expect(request.fields.usualConnection == .close)
        request.fields[.connection] = "Keep-Alive"
        #expect(request.fields.usualConnection == .keepAlive)
        request.fields.append(.connection, "close")
        #expect(request.fields.usualConnection == nil)
        request.fields.remove(.connection)
        #expect(request.fields.usualConnection == nil)
        request.fields.append(PreparedField(.connection, known: "close"))
        #expect(request.fields.usualConnection == .close)
        request.fields.replace(.connection, with: PreparedField(.connection, known: "keep-alive"))
        #expect(request.fields.usualConnection == .keepAlive)
    }

    @Test func `a reused value forgets the last message`() throws {
        var parser = RequestParser()
        var request = HTTPRequest()
        let bytes = latin1(
            "POST /long/target HTTP/1.0\r\nHost: a\r\nA: b\r\n\r\nPATCH /s HTTP/1.1\r\nHost: c\r\n\r\n")
        let first = try parser.parse(bytes.span, into: &request)
        let length = try #require(first)
        #expect(request.target == "/long/target")
        let second = try parser.parse(bytes.span.extracting(droppingFirst: length), into: &request)
        #expect(second == bytes.count - length)
        #expect(request.target == "/s")
        #expect(request.method == .patch)
        #expect(request.version == .http11)
        #expect(request.fields.count == 1)
        #expect(!request.fields.contains(HTTPFields.Name(known: "A")))
    }

    @Test(arguments: [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "M-SEARCH", "GETS",
        "HEADS",
        "POSTS", "PATCHY", "PATC", "DELETED", "OPTION", "OPTIONSS",
    ])
    func `any token is a method, in its own case`(method: String) throws {
        let text = "\(method) / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try Self.serialized(request: text) == text)
        #expect(
            Invariants.parse(request: latin1(text), .whole).request.method == HTTPMethod(rawValue: method))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 999 Odd", "HTTP/1.1 100 Continue", "HTTP/1.1 404 x  y ",
    ])
    func `status lines are kept`(line: String) throws {
        #expect(try Self.serialized(response: line + "\r\nA: b\r\n\r\n") == line + "\r\nA: b\r\n\r\n")
    }

    @Test func `the space before an empty reason phrase may be missing`() throws {
        #expect(try Self.serialized(response: "HTTP/1.1 200\r\n\r\n") == "HTTP/1.1 200 \r\n\r\n")
        #expect(try Self.serialized(response: "HTTP/1.0 200 OK\r\n\r\n") == "HTTP/1.1 200 OK\r\n\r\n")
    }

    @Test(arguments: [
        ("GET http://a/p?q HTTP/1.1\r\nHost: a", "GET /p?q HTTP/1.1\r\nHost: a"),
        (
            "GET HTTP://A.example:80/p HTTP/1.1\r\nX: y\r\nHost: a.EXAMPLE",
            "GET /p HTTP/1.1\r\nX: y\r\nHost: A.example:80"
        ),
        ("GET https://a HTTP/1.1\r\nHost: a", "GET / HTTP/1.1\r\nHost: a"),
        ("GET https://a:443/ HTTP/1.1\r\nHost: a", "GET / HTTP/1.1\r\nHost: a:443"),
        ("GET HTTPS://a/ HTTP/1.1\r\nHost: a:443", "GET / HTTP/1.1\r\nHost: a"),
        ("GET http://a?q HTTP/1.1\r\nHost: a", "GET /?q HTTP/1.1\r\nHost: a"),
        ("OPTIONS http://a HTTP/1.1\r\nHost: a", "OPTIONS * HTTP/1.1\r\nHost: a"),
        ("OPTIONS http://a/ HTTP/1.1\r\nHost: a", "OPTIONS / HTTP/1.1\r\nHost: a"),
        ("GET http://[::1]:80/ HTTP/1.1\r\nHost: [::1]", "GET / HTTP/1.1\r\nHost: [::1]:80"),
        ("GET http://a/ HTTP/1.0", "GET / HTTP/1.1\r\nHost: a"),
        ("OPTIONS * HTTP/1.1\r\nHost: a", "OPTIONS * HTTP/1.1\r\nHost: a"),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a:443", "CONNECT a:443 HTTP/1.1\r\nHost: a:443"),
    ])
    func `an absolute-form target becomes origin-form and its authority Host`(
        text: String, sent: String
    ) throws {
        #expect(try Self.serialized(request: text + "\r\n\r\n") == sent + "\r\n\r\n")
    }

    @Test func `bytes that trickle in give the same as all at once`() {
        let text = latin1("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX:y\r\n\r\nabc")
        let whole = Invariants.parse(request: text, .whole)
        for cut in 0...text.count {
            var parser = RequestParser()
            var request = HTTPRequest()
            let first = try? parser.parse(text.span.extracting(first: cut), into: &request)
            let end = first ?? (try? parser.parse(text.span, into: &request))
            #expect(whole.outcome == end.map { .complete($0) } ?? .incomplete)
            #expect(request.fields == whole.request.fields)
        }
    }

    static func serialized(request text: String) throws -> String {
        var parser = RequestParser()
        var request = HTTPRequest()
        let end = try parser.parse(latin1(text).span, into: &request)
        #expect(end == latin1(text).count)
        var output: [UInt8] = []
        request.serialize(into: &output)
        return latin1(output)
    }

    static func serialized(response text: String) throws -> String {
        var parser = ResponseParser()
        var response = HTTPResponse()
        let end = try parser.parse(latin1(text).span, into: &response)
        #expect(end == latin1(text).count)
        var output: [UInt8] = []
        response.serialize(into: &output)
        return latin1(output)
    }
}
