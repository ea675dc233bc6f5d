// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A daemon with the development provider and API, and a person who logs in there.
final class LoginSite: Sendable {
    let directory: TemporaryDirectory
    let file: String
    let bearerd: BearerdProcess
    private let provider: Address

    /// The identities are `web`, which every route names, and `tv`.
    ///
    /// `identity` has configuration lines for `web`, `device` has those for `tv`.
    ///
    /// With a store in memory, commands find the daemon through its admin listener.
    init(
        identity: String = "", device: String = "", inMemory: Bool = false, store: String? = nil,
        top: String = ""
    ) throws {
        directory = try TemporaryDirectory()
        provider = try Socket.refusing().address
        let admin = inMemory ? "\(try Socket.refusing().address)" : "127.0.0.1:0"
        let store =
            store ?? (inMemory ? "type: memory" : "type: file\ndirectory: \(directory.path("store"))")
        let text = """
            listen: 127.0.0.1:0
            admin:
              listen: \(admin)
            development:
              provider: \(provider)
              api: 127.0.0.1:0
            identities:
              web:
                issuer: http://\(provider)
                client_id: web
                client_secret: s
                scope: [openid, profile, offline_access]
            \(indented(identity, by: 4))
              tv:
                issuer: http://\(provider)
                client_id: tv
                grant_type: device_code
                scope: openid
            \(indented(device, by: 4))
            routes:
              - path: /
                upstream: http://127.0.0.1:1
                identity: web
            store:
            \(indented(store, by: 2))
            \(top)
            """
        file = try directory.write("config.yaml", text)
        bearerd = try BearerdProcess(arguments: ["run", "-c", file])
    }

    /// The issuer of the development provider.
    var issuer: String { "http://\(provider)" }

    /// Starts a command that waits for the person.
    func start(_ arguments: String..., environment: [String: String] = [:]) throws -> Subprocess {
        try Subprocess([BearerdProcess.binary] + arguments + ["-c", file], environment: environment)
    }

    /// Runs a command to its end.
    func run(
        _ arguments: String...
    ) throws -> (ending: Subprocess.Termination, output: String, errors: String) {
        let result = try Subprocess.run([BearerdProcess.binary] + arguments + ["-c", file])
        return (result.ending, result.output, result.errors)
    }

    /// Logs alice in through the command.
    func begin() throws {
        let login = try start("login", "web", "--no-browser")
        _ = try browse(try logIn(at: try firstLine(of: login)))
        guard try login.waitForEnd() == .exited(0) else { throw WireError(login.errors.withLock { $0.text }) }
    }

    /// The first line of a command's output.
    func firstLine(of process: Subprocess) throws -> String {
        try process.output.wait(for: "a line of output") { capture in
            let lines = capture.text.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.count > 1 ? String(lines[0]) : nil
        }
    }

    /// Logs alice in at `url` as a browser would, or refuses in her name.
    ///
    /// - Returns: the URL to which the provider redirects the browser.
    func logIn(at url: String, saying no: Bool = false) throws -> String {
        let page = try browse(url).text
        guard let field = page.firstMatch(of: #/name="(\w+)" value="([^"]+)"/#) else {
            throw WireError("no login page: \(page)")
        }
        let form =
            "\(field.output.1)=\(field.output.2)"
            + (no ? "&decision=cancel" : "&username=alice&password=wonderland")
        let answer = try RawClient(to: provider).request(
            "POST", "/login", [("Content-Type", "application/x-www-form-urlencoded")], body: form)
        guard let location = answer["Location"] else { throw WireError("no redirect: \(answer.head)") }
        return location
    }

    /// Allows the login of a waiting device, or refuses it.
    func allow(_ userCode: String, saying no: Bool = false) throws {
        let form = "user_code=\(userCode)&username=alice&password=wonderland" + (no ? "&decision=cancel" : "")
        _ = try RawClient(to: provider).request(
            "POST", "/device", [("Content-Type", "application/x-www-form-urlencoded")], body: form)
    }

    /// The status of an identity in `/api/status`.
    func status(of identity: String = "web") throws -> TestJSON {
        try RawClient(to: bearerd.admin).request("GET", "/api/status").json["identities"].array
            .first { $0["name"].string == identity } ?? .null
    }
}
