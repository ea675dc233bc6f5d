// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd login --redirect-uri`, for an answer that arrives at another program.
@Suite(.blocking) struct `A login whose answer is handed on as a URL` {
    private static let redirectURI = "http://127.0.0.1:9/callback"

    @Test(arguments: [true, false])
    func `is finished by exchange, whatever else is handed on before`(usesInput: Bool) throws {
        let site = try LoginSite()
        let begun = try site.run("login", "web", "--redirect-uri", Self.redirectURI)
        let url = String(begun.output.dropLast())
        #expect(begun.ending == .exited(0) && begun.output.hasSuffix("\n") && url.contains("code_challenge="))
        #expect(begun.errors.contains("bearerd exchange"))
        #expect(try site.status()["state"].string == "login_required")

        let answer = try site.logIn(at: url)
        for wrong in [
            "nonsense", answer.replacing("state=", with: "state=x"),
            answer.replacing("/callback", with: "/other"),
            Self.redirectURI,
        ] {
            let refused = try site.run("exchange", "web", "--response", wrong)
            #expect(refused.ending == .exited(65) && refused.output.isEmpty, "\(wrong): \(refused.errors)")
            #expect(!refused.errors.contains("code="))
        }
        if usesInput {
            let shell = "printf '%s\\n' \"$ANSWER\" | \"$0\" exchange web -c \"$1\""
            let result = try Subprocess.run(
                ["/bin/sh", "-c", shell, BearerdProcess.binary, site.file],
                environment: ["ANSWER": answer, "PATH": "/usr/bin:/bin"])
            #expect(result.ending == .exited(0), "\(result.errors)")
        } else {
            let result = try site.run("exchange", "web", "--response", answer)
            #expect(result.ending == .exited(0), "\(result.errors)")
        }
        try eventually("the daemon to have the session") { try site.status()["state"].string == "authorized" }
        let again = try site.run("exchange", "web", "--response", answer)
        #expect(again.ending == .exited(66), "\(again.errors)")
    }

    @Test func `is over once an answer with its state is of another issuer`() throws {
        let site = try LoginSite()
        let begun = try site.run("login", "web", "--redirect-uri", Self.redirectURI)
        let answer = try site.logIn(at: String(begun.output.dropLast()))
        let other = answer.split(separator: "&").map {
            $0.hasPrefix("iss=") ? "iss=http%3A%2F%2Fother.example" : $0
        }.joined(separator: "&")
        let foreign = try site.run("exchange", "web", "--response", other)
        #expect(
            foreign.ending == .exited(77) && foreign.errors.contains("other.example"), "\(foreign.errors)")
        let right = try site.run("exchange", "web", "--response", answer)
        #expect(right.ending == .exited(66), "\(right.errors)")
    }

    @Test func `that nobody can answer is wrong usage`() throws {
        let site = try LoginSite()
        for uri in ["nonsense", "", "app:/cb#x", "a b:/c"] {
            #expect(try site.run("login", "web", "--redirect-uri", uri).ending == .exited(64), "\(uri)")
        }
        let device = try site.run("login", "tv", "--redirect-uri", "app:/cb")
        #expect(device.ending == .exited(64))
        #expect(try site.run("login", "web", "--device", "--redirect-uri", "app:/cb").ending == .exited(64))
        #expect(try site.run("exchange", "web", "--response", "app:/cb?code=x").ending == .exited(66))
    }
}
