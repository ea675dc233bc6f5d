// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTPMessages
import Testing

@Suite struct `Fields` {
    @Test func `a name is compared without case and written as spelt`() throws {
        let name = try #require(HTTPFields.Name("x-OWN"))
        #expect(name == HTTPFields.Name("X-Own"))
        #expect(name.hashValue == HTTPFields.Name("X-Own")?.hashValue)
        #expect(name.description == "x-OWN")
        #expect(HTTPFields.Name("host") == .host)
        #expect(HTTPFields.Name("hosts") != .host)
    }

    @Test(arguments: ["", " ", "a b", "a:", "a\r\n", "é", "a\0", "(a)", "a/b"])
    func `a name that is no token is none`(text: String) {
        #expect(HTTPFields.Name(text) == nil)
    }

    @Test func `every name of our own is found, however it is spelt`() throws {
        let names: [HTTPFields.Name] = [
            .host, .authorization, .connection, .contentLength, .transferEncoding, .te, .trailer, .upgrade,
            .via,
            .location, .wwwAuthenticate, .contentType, .date, .retryAfter, .proxyStatus, .keepAlive,
            .proxyConnection,
            .proxyAuthorization, .proxyAuthenticate, .expect, .origin, .xForwardedFor, .xForwardedProto,
            .xForwardedHost, .xRequestID, .cookie, .setCookie, .accept, .cacheControl, .secFetchSite,
            .bearerdKey,
            .bearerdAdmin, .server, .userAgent,
        ]
        for name in names {
            for spelling in [name.description, name.description.lowercased(), name.description.uppercased()] {
                let fields = try Self.fields("\(spelling): v")
                #expect(fields.contains(name))
                #expect(fields[name] == "v")
                #expect(fields.count(of: name) == 1)
            }
        }
    }

    @Test func `setting replaces the first in place, removes the others and keeps the spelling`() throws {
        var fields = try Self.fields("a: 1", "hOst: x", "b: 2", "Host: y")
        fields[.host] = "z"
        #expect(Self.lines(fields) == ["a: 1", "hOst: z", "b: 2"])
        fields[.host] = nil
        #expect(Self.lines(fields) == ["a: 1", "b: 2"])
        #expect(!fields.contains(.host))
        fields[.host] = "w"
        #expect(Self.lines(fields) == ["a: 1", "b: 2", "Host: w"])
    }

    @Test(arguments: ["a\r\nX: y", "a\0", "\u{7F}", "a\nb"])
    func `a value that no field may hold is never written`(value: String) throws {
        var fields = try Self.fields("a: 1", "Host: x")
        let isAppended = fields.append(.via, value)
        #expect(!isAppended)
        #expect(!fields.contains(.via))
        fields[.host] = value
        #expect(Self.lines(fields) == ["a: 1"])
    }

    @Test func `white space around a value that is set is dropped`() {
        var fields = HTTPFields()
        fields.append(.via, "\t 1.1 a ")
        #expect(fields[.via] == "1.1 a")
        #expect(Self.lines(fields) == ["Via: 1.1 a"])
    }

    @Test func `values, counts and list members come from all lines`() throws {
        let fields = try Self.fields(
            "Via: 1.1 a, 1.1 b", "x: y", "via: 1.0 c ,, ", "Connection: Keep-Alive,\tCLOSE")
        #expect(fields.values(of: .via) == ["1.1 a, 1.1 b", "1.0 c ,,"])
        #expect(fields.count(of: .via) == 2)
        #expect(fields.listMembers(of: .via) == ["1.1 a", "1.1 b", "1.0 c"])
        #expect(fields.listMembers(of: .via, atMost: 2) == ["1.1 a", "1.1 b"])
        #expect(fields.containsToken("close", in: .connection))
        #expect(fields.containsToken("keep-alive", in: .connection))
        #expect(!fields.containsToken("keep", in: .connection))
        #expect(!fields.containsToken("close", in: .upgrade))
    }

    @Test func `list members are counted by their second word`() throws {
        let fields = try Self.fields(
            "Via: 1.1 own, 1.1  own (first, 1.1 own) ,own, 1.1 owner, 1.1 a own", "via: HTTP/1.1 own,1.0 ,",
            "Host: 1.1 own")
        #expect(fields.viaCount(of: "own") == 3)
    }

    @Test func `hop-by-hop fields go, with those that Connection names`() throws {
        var fields = try Self.fields(
            "Host: a", "Connection: keep-alive, X-Own , te", "x-own: 1", "Keep-Alive: 5",
            "Proxy-Connection: x", "TE: x",
            "Trailer: t", "Transfer-Encoding: chunked", "Upgrade: h2c", "HTTP2-Settings: x", "X-Other: 2",
            "Proxy-Authorization: Basic x", "Proxy-Authenticate: y", "connection: x-third, close",
            "X-THIRD: 3", "Accept: b")
        fields.removeHopByHop()
        #expect(Self.lines(fields) == ["Host: a", "Trailer: t", "X-Other: 2", "Accept: b"])
        #expect(!fields.contains(.connection))
    }

    @Test func `names that Connection lists go in any case, however often both are there`() throws {
        let many = (0..<3000).map { "n\($0)" }.joined(separator: ", ")
        var fields = try Self.fields(
            "Host: a", "Connection: X-Own, \(many), close, x-OWN, Close", "x-own: 1", "N7: 2", "Close: 3",
            "X-OWN: 4", "X-Owner: 5", "n2999: 6", "n3000: 7", "connection: n3001, cookie", "N3001: 8",
            "Cookie: c")
        fields.removeHopByHop()
        #expect(Self.lines(fields) == ["Host: a", "Close: 3", "X-Owner: 5", "n3000: 7"])
    }

    @Test func `Connection cannot take away what the message needs`() throws {
        var fields = try Self.fields(
            "Host: a", "Content-Length: 5", "Content-Type: b",
            "Connection: host, content-length, Content-Type, cookie",
            "Cookie: c")
        fields.removeHopByHop()
        #expect(Self.lines(fields) == ["Host: a", "Content-Length: 5", "Content-Type: b"])
    }

    @Test func `nothing is hop-by-hop in a message without such fields`() throws {
        let before = try Self.fields("Host: a", "X-Connection: close", "Accept: b")
        var after = before
        after.removeHopByHop()
        #expect(after == before)
    }

    @Test func `removing leaves the other fields and their order`() throws {
        let own = try #require(HTTPFields.Name("X-Own"))
        var fields = try Self.fields("X-Own: 1", "A: b", "x-own: 2", "C: d", "X-OWN: 3")
        fields.remove(own)
        #expect(Self.lines(fields) == ["A: b", "C: d"])
        #expect(!fields.contains(own))
        fields.removeAll(keepingCapacity: true)
        #expect(fields.isEmpty)
        #expect(!fields.contains(.host))
    }

    static func fields(_ lines: String...) throws -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let name = try #require(HTTPFields.Name(parts[0]))
            let isAppended = fields.append(name, parts[1])
            #expect(isAppended)
        }
        return fields
    }

    static func lines(_ fields: HTTPFields) -> [String] {
        var lines: [String] = []
        fields.forEach { lines.append("\($0): \($1)") }
        return lines
    }

    @Test func `of several statuses of a gRPC call the last one counts, as for the libraries of callers`()
        throws
    {
        var fields = HTTPFields()
        fields.append(.grpcStatus, "0")
        fields.append(try #require(HTTPFields.Name("GRPC-Status")), "16")
        #expect(fields.grpcStatus == 16)
        fields.append(.grpcStatus, "x")
        #expect(fields.grpcStatus == nil)
    }
}
