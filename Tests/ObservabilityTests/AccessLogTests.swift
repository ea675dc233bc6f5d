// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Testing

struct `The access log` {
    private func record(code: String = "", isReplayed: Bool = false) -> AccessRecord {
        AccessRecord(
            unixMilliseconds: 1_795_257_954_007, duration: .microseconds(731), method: "POST",
            status: 200, code: code, bytesIn: 12, bytesOut: 1024, isReplayed: isReplayed,
            peer: "127.0.0.1:5000")
    }

    private func line(
        _ format: LogFormat, _ record: consuming AccessRecord, route: String = "/api", target: String,
        requestID: String = "id-1"
    ) -> String {
        let sink = CollectingSink()
        var log = AccessLog(format: format)
        let (targetBytes, requestIDBytes) = (Array(target.utf8), Array(requestID.utf8))
        log.append(
            record, route: LoggedRoute(route), target: targetBytes.span, requestID: requestIDBytes.span)
        log.flush(to: sink)
        return sink.text
    }

    @Test func `a JSON line says all of a request`() {
        #expect(
            line(.json, record(code: "upstream_connect", isReplayed: true), target: "/api/users")
                == #"{"time":"2026-11-21T10:45:54.007Z","level":"info","message":"request","request_id":"id-1","#
                + #""method":"POST","route":"/api","path":"/api/users","protocol":"HTTP/1.1","status":200,"code":"upstream_connect","#
                + #""bytes_in":12,"bytes_out":1024,"duration_seconds":0.000731,"replayed":true,"#
                + #""peer":"127.0.0.1:5000"}"# + "\n")
    }

    @Test func `a text line says the same`() {
        #expect(
            line(.text, record(), target: "/api/users")
                == "2026-11-21T10:45:54.007Z info    request method=POST path=/api/users route=/api protocol=HTTP/1.1 "
                + "status=200 "
                + "bytes_in=12 bytes_out=1024 duration_seconds=0.000731 peer=127.0.0.1:5000 request_id=id-1\n"
        )
    }

    @Test func `a line names the identity, and the upstream where the answer is bearerd's own`() {
        let route = LoggedRoute("/api", identity: "a\"b", upstream: "api.example.com:443")
        let own = line(.json, record(code: "upstream_connect"), of: route)
        #expect(own.contains(#""route":"/api","identity":"a\"b","path":"/x""#))
        #expect(own.contains(#""code":"upstream_connect","upstream":"api.example.com:443","bytes_in""#))
        let passed = line(.text, record(), of: route)
        #expect(passed.contains(#" route=/api identity=a\"b protocol="#) && !passed.contains("upstream"))
        #expect(line(.text, record(code: "c"), of: route).contains(" code=c upstream=api.example.com:443 "))
    }

    @Test func `a line has the fields that were chosen, in their own order`() {
        let route = LoggedRoute("/api", identity: "default", upstream: "api.example.com:443")
        let some: Set<AccessField> = [.status, .path, .identity, .code]
        #expect(
            line(.json, record(code: "truncated"), of: route, fields: some)
                == #"{"time":"2026-11-21T10:45:54.007Z","level":"info","message":"request","identity":"default","#
                + #""path":"/x","status":200,"code":"truncated"}"# + "\n")
        #expect(
            line(.text, record(), of: route, fields: some)
                == "2026-11-21T10:45:54.007Z info    request path=/x identity=default status=200\n")
    }

    @Test(arguments: [LogFormat.text, .json])
    func `a line with every field chosen says what one does with none chosen`(format: LogFormat) {
        let route = LoggedRoute("/api", identity: "default", upstream: "api.example.com:443")
        for code in ["", "truncated"] {
            let chosen = line(
                format, record(code: code, isReplayed: true), of: route, fields: Set(AccessField.allCases))
            let whole = line(format, record(code: code, isReplayed: true), of: route)
            #expect(Self.parts(of: chosen) == Self.parts(of: whole))
        }
    }

    /// Every member, whatever the order.
    private static func parts(of line: String) -> Set<String> {
        let isJSON = line.hasPrefix("{")
        let members = isJSON ? String(line.dropFirst().dropLast(2)) : String(line.dropLast())
        return Set(members.split(separator: isJSON ? "," : " ").map(String.init))
    }

    private func line(
        _ format: LogFormat, _ record: consuming AccessRecord, of route: LoggedRoute,
        fields: Set<AccessField>? = nil
    ) -> String {
        let sink = CollectingSink()
        var log = AccessLog(format: format, fields: fields)
        let (target, requestID) = (Array("/x?secret".utf8), Array("id-1".utf8))
        log.append(record, route: route, target: target.span, requestID: requestID.span)
        log.flush(to: sink)
        return sink.text
    }

    @Test(arguments: [LogFormat.text, .json])
    func `the query is never written`(format: LogFormat) {
        let written = line(format, record(), target: "/callback?code=secret&x=/y")
        #expect(written.contains("/callback"))
        #expect(!written.contains("secret") && !written.contains("?"))
    }

    @Test func `bytes that could deceive a reader are percent-encoded`() {
        let written = line(.json, record(), target: "/a\"b\\c\u{1B}é", requestID: "x\ny z")
        #expect(written.contains(#""path":"/a%22b%5Cc%1B%C3%A9""#))
        #expect(written.contains(#""request_id":"x%0Ay%20z""#))
    }

    @Test func `texts of any length are written whole, and what is odd in them wherever it stands`() {
        for length in 1..<70 {
            let path = "/" + String(repeating: "a", count: length)
            for odd in [nil, 1, length / 2, length - 1, length] {
                let target = odd.map { path.prefix($0) + "\u{7F}" + path.dropFirst($0 + 1) } ?? path
                let shown = target.replacing("\u{7F}", with: "%7F")
                let written = line(
                    .json, record(), route: path, target: target,
                    requestID: String(target.dropFirst().prefix(40)))
                #expect(written.contains("\"path\":\"\(shown)\",\"protocol\""), "\(length) \(odd ?? -1)")
                #expect(written.contains("\"route\":\"\(path)\",\"path\""), "\(length)")
                let id = target.dropFirst().prefix(40).replacing("\u{7F}", with: "%7F")
                #expect(written.contains("\"request_id\":\"\(id)\",\"method\""), "\(length) \(odd ?? -1)")
            }
        }
    }

    @Test func `numbers of any length are written whole`() {
        for (number, micros) in [
            (0, 0), (9, 1), (10, 99), (999, 1_000), (1024, 999_999), (123_456_789, 1_000_001),
        ] {
            let record = AccessRecord(
                unixMilliseconds: 1_795_257_954_999, duration: .microseconds(micros), method: "GET",
                status: 404,
                bytesIn: UInt64(number), bytesOut: .max, peer: "::1")
            let written = line(.text, record, target: "/")
            let rest = String(1_000_000 + micros % 1_000_000).dropFirst()
            #expect(
                written.hasPrefix("2026-11-21T10:45:54.999Z")
                    && written.contains(
                        " status=404 bytes_in=\(number) bytes_out=18446744073709551615 "
                            + "duration_seconds=\(micros / 1_000_000).\(rest) peer=::1 "),
                "\(written)")
        }
    }

    @Test func `long paths and ids are cut off`() {
        let written = line(
            .json, record(), target: "/" + String(repeating: "a", count: 5000),
            requestID: String(repeating: "b", count: 500))
        #expect(written.contains(String(repeating: "a", count: 1023) + "...\""))
        #expect(written.contains("\"" + String(repeating: "b", count: 128) + "...\""))
    }

    @Test(arguments: [LogFormat.text, .json])
    func `there is room for the longest line`(format: LogFormat) {
        let sink = CollectingSink()
        let route = String(repeating: "\"", count: 5000)
        var log = AccessLog(format: format)
        let untidy = Array(repeating: UInt8(0), count: 5000)
        let record = AccessRecord(
            unixMilliseconds: .max, duration: .seconds(Int64.max),
            method: String(repeating: "M", count: 5000),
            status: .max, code: String(repeating: "c", count: 5000), bytesIn: .max, bytesOut: .max,
            isReplayed: true, peer: String(repeating: "p", count: 5000))
        log.append(record, route: LoggedRoute(route), target: untidy.span, requestID: untidy.span)
        log.flush(to: sink)
        #expect(sink.text.hasSuffix("\n") && sink.text.utf8.count > 20_000)
    }

    @Test func `lines are gathered until the buffer is full and written in order`() {
        let sink = CollectingSink()
        let (first, second, requestID) = (Array("/first".utf8), Array("/second".utf8), Array("1".utf8))
        var log = AccessLog(format: .json, capacity: 300)
        let route = LoggedRoute("/api")
        #expect(log.isEmpty)
        log.append(record(), route: route, target: first.span, requestID: requestID.span)
        #expect(!log.isFull && !log.isEmpty)
        log.append(record(), route: route, target: second.span, requestID: requestID.span)
        #expect(log.isFull && sink.text.isEmpty)
        log.flush(to: sink)
        #expect(log.isEmpty)
        let lines = sink.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("/first") && lines[1].contains("/second"))
    }
}
