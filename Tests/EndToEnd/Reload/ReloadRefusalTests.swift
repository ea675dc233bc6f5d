// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What shows only when a file or an address is opened keeps the configuration before, and says which key it is.
@Suite(.blocking) struct `What a reload cannot open` {
    private func reload(_ sidecar: Sidecar, to settings: Sidecar.Settings) throws -> RawResponse {
        try Sidecar.file(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory, settings)
        return try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
    }

    /// Expects one error, at the key and in the line where the file says `text`, in the answer and in the log.
    private func expect(_ answer: RawResponse, key: String, text: String, of sidecar: Sidecar) throws {
        let file = sidecar.directory.path("config.yaml")
        let lines = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains(text) }) + 1
        let column = try #require(lines[line - 1].firstRange(of: text)).lowerBound
        let start = lines[line - 1].distance(from: lines[line - 1].startIndex, to: column) + 1
        #expect(answer.status == 422 && answer.json["code"].string == "config_invalid", "\(answer.text)")
        let errors = answer.json["errors"].array
        #expect(errors.count == 1 && errors[0]["key"].string == key, "\(answer.text)")
        #expect(
            errors[0]["file"].string == file && errors[0]["line"].number == Double(line), "\(answer.text)")
        #expect(errors[0]["column"].number == Double(start), "\(answer.text)")
        try sidecar.bearerd.logLine("the error") {
            $0["file"] == "\(file):\(line):\(start)" && $0["reason"]?.hasPrefix("\(key): ") == true
        }
        #expect(try sidecar.get().status == 200)
    }

    @Test func `is a port that somebody has`() throws {
        let sidecar = try Sidecar()
        let other = try RawUpstream()
        let taken = other.url.replacing("http://", with: "")
        let answer = try reload(sidecar, to: .init(listen: "\n  - 127.0.0.1:0\n  - \(taken)"))
        try expect(answer, key: "listen[1]", text: taken, of: sidecar)
    }

    @Test func `is a socket whose path is a file's`() throws {
        let directory = try TemporaryDirectory()
        let first = "unix:\(directory.path("one"))"
        let taken = try directory.write("taken", "not a socket")
        let sidecar = try Sidecar(directory: directory, .init(listen: first))
        let answer = try reload(sidecar, to: .init(listen: "\n  - \(first)\n  - unix:\(taken)"))
        try expect(answer, key: "listen[1]", text: "unix:\(taken)", of: sidecar)
    }

    @Test func `is the file of the audit`() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.path("audit"), 0o755)
        let sidecar = try Sidecar(
            directory: directory, .init(top: "audit:\n  file: \(directory.path("audit/log"))"))
        let other = directory.path("audit/other")
        mkdir(other, 0o755)
        let answer = try reload(sidecar, to: .init(top: "audit:\n  file: \(other)"))
        try expect(answer, key: "audit.file", text: other, of: sidecar)
    }

    @Test func `is what another key has sealed, which it tells before a restart cannot`() throws {
        let directory = try TemporaryDirectory()
        let zeros = String(repeating: "00", count: 32)
        let key = try directory.write("key", zeros)
        let store = "directory: \(directory.path("store"))\nencryption_key_file: \(key)"
        let sidecar = try Sidecar(directory: directory, .init(store: store))
        try sidecar.awaitToken()
        // The same key, written in base64.
        try directory.write("key", String(repeating: "A", count: 43) + "=\n")
        #expect(try reload(sidecar, to: .init(store: store)).status == 200)
        try directory.write("key", String(repeating: "01", count: 32))
        let answer = try reload(sidecar, to: .init(store: store))
        #expect(answer.status == 422 && answer.json["code"].string == "restart_needed", "\(answer.text)")
        #expect(answer.json["keys"].array.map(\.string) == ["store.encryption_key_file"])
        #expect(answer.json["detail"].string?.contains("put that back") == true, "\(answer.text)")
        #expect(try sidecar.get().status == 200)
        try directory.write("key", zeros)
        #expect(try reload(sidecar, to: .init(store: store)).status == 200)
        #expect(sidecar.provider.requests.count == 1)
    }
}
