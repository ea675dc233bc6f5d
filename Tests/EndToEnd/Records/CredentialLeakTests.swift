// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What a client proves itself and its grant with stays between it and the provider.
@Suite(.blocking) struct `No credential leaks` {
    @Test(arguments: ["password", "token_exchange", "jwt_bearer", "client_credentials"])
    func `when a provider sends back all that it was sent`(grant: String) throws {
        let directory = try TemporaryDirectory()
        let secret = "credential." + randomText() + randomText()
        let file = try directory.write("secret", secret + "\n")
        let pair = try TestKeyPair("ES256")
        let identity =
            switch grant {
            case "password": "username: u\npassword_file: \(file)"
            case "token_exchange": "subject_token_file: \(file)"
            case "jwt_bearer": "assertion_file: \(file)"
            default: "private_key_file: \(pair.privateKeyFile)"
            }
        let provider = try HostileProvider()
        let sent = Monitor<[String]>([secret])
        let echoes: [HostileProvider.Answer] = [
            { request, _ in .json(#"{"error":"\#(request.parameters.last?.value ?? "")"}"#, status: 400) },
            { request, _ in
                .json(#"{"error":"x","error_description":"\#(request.message.text)"}"#, status: 401)
            },
            { request, _ in .response(500, [("X-Echo", request.message.text)], request.message.text) },
            { request, _ in .response(302, [("Location", "/?\(request.message.text)")]) },
            { request, _ in .response(200, [], request.message.text) },
        ]
        let turn = Monitor(0)
        provider.always { request, provider in
            sent.withLock { $0 += [request["client_assertion"]].compactMap(\.self) }
            return try echoes[
                turn.withLock { turn in
                    turn += 1
                    return turn % echoes.count
                }](request, provider)
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                top: "log:\n  level: trace\ntimeouts:\n  token_wait: 300ms", identity: identity, grant: grant,
                hasSecret: false))
        var written: [String] = []
        for _ in 0..<6 {
            written.append(try sidecar.act("refresh").text)
            written.append(String(decoding: try sidecar.get().raw, as: UTF8.self))
        }
        for target in ["/metrics", "/api/status", "/readyz"] {
            written.append(String(decoding: try sidecar.admin("GET", target).raw, as: UTF8.self))
        }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        written.append(sidecar.bearerd.log)
        #expect(provider.requests.count > 5)
        let secrets = sent.withLock { $0 }
        for text in written { #expect(LeakScan.leaks(of: secrets, in: text).isEmpty, "\(text.prefix(2000))") }
    }

    @Test(arguments: [
        "8b2c4f1a-03d7-4e6b-9a51-5eed" + randomText(8).lowercased(), "9f86d081" + randomText(8),
        "a.b.c." + randomText(9),
        "Zm9v/" + randomText(8) + "+cXV4Lw==",
    ])
    func `when a provider tells of a token, or a key, that another request has had`(token: String) throws {
        let key = "k3y/" + randomText(12)
        let isReadable = Monitor(false)
        let provider = try HostileProvider()
        let turn = Monitor(0)
        provider.always { _, _ in
            let number = turn.withLock { turn in
                turn += 1
                return turn
            }
            guard number > 1 else {
                return .json(#"{"access_token":"\#(token)","token_type":"Bearer","expires_in":300}"#)
            }
            let told =
                isReadable.withLock { $0 }
                ? "invalid refresh token"
                : number.isMultiple(of: 2)
                    ? "Access token \(token) is still valid" : "\(token.prefix(9))... of \(key)"
            return .json(
                #"{"error":"invalid_request","error_description":"\#(told)","error_uri":"https://x.test/\#(token)"}"#,
                status: 400)
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                top: "timeouts:\n  token_wait: 300ms", identity: "token_headers: {X-Api-Key: '\(key)'}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get().status == 200)
        var written: [String] = []
        for _ in 0..<4 { written.append(try sidecar.act("refresh").text) }
        for target in ["/metrics", "/api/status", "/readyz", "/"] {
            written.append(String(decoding: try sidecar.admin("GET", target).raw, as: UTF8.self))
        }
        let command = try BearerdProcess.command("status", "-c", sidecar.directory.path("config.yaml"))
        written += [command.output, command.errors, sidecar.bearerd.log]
        #expect(written.contains { $0.contains("invalid_request") })
        for secret in [token, String(token.prefix(8)), key, String(key.prefix(8))] {
            #expect(!written.contains { $0.contains(secret) }, "\(secret)")
        }
        isReadable.withLock { $0 = true }
        _ = try sidecar.act("refresh")
        try sidecar.bearerd.logLine("words that are no secret") {
            $0["reason"]?.contains("\"invalid refresh token\"") ?? false
        }
    }
}
