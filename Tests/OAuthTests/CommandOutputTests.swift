// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// What is told of a program that printed no token that can be used.
struct `The complaint about a command` {
    private func complaint(_ output: String, _ error: String, failure: String? = "exited with 1") -> String {
        let output = CommandOutput(failure: failure, output: Array(output.utf8), error: Array(error.utf8))
        do throws(TokenFailure) {
            _ = try output.token(of: "print", at: WallTime(secondsSinceEpoch: 1_700_000_000))
            return "a token"
        } catch {
            return error.detail
        }
    }

    // No test here expects words of standard error: they are left out where they happen to repeat a secret of another test.

    @Test func `is short, whatever is on standard error`() {
        #expect(complaint("", "") == "print exited with 1")
        for error in [String(repeating: "word ", count: 500), "a\nb\u{1B}[31m\u{0}\u{FFFD}"] {
            let told = complaint("", error)
            #expect(told.hasPrefix("print exited with 1") && told.utf8.count < 250)
            #expect(!told.contains { $0.isNewline || $0 == "\u{1B}" || $0 == "\u{0}" })
        }
    }

    @Test(arguments: [
        (#"{"access_token":"TOKEN"}"#, "longsecrettoken"), (#"{"access_token":"TOKEN"}"#, "q7"),
        (#"{"token":"TOKEN"}"#, "tiny"), ("TOKEN", "plainlowercase"), ("TOKEN\n", "tiny"),
        (#"{"access_token":"TOKEN""#, "cutoff"), (#"{"x":{"y":["TOKEN"]}}"#, "nestedvalue"),
        (#"{"status":{"token":"TOKEN"},"kind":"ExecCredential"}"#, "Sh0rt-t"),
        (#"{"access_token" : 1234567890123}"#, "1234567890123"),
        (#"{"access_token":"q\u0075oted-token"}"#, "quoted-token"),
        (#"{"access_token":"a\/b\/c\/d\/e"}"#, "a/b/c/d/e"),
    ])
    func `leaves out standard error that repeats what it printed`(output: String, token: String) {
        let printed = output.replacing("TOKEN", with: token)
        #expect(complaint(printed, "bad \(token) refused") == "print exited with 1")
    }

    @Test(arguments: [
        (#"{"access_token":"x","expires_at":"2026-11-28T00:00:00"}"#, "an expires_at that"),
        (#"{"access_token":"x","expires_at":[7],"expires_in":60}"#, "an expires_at that"),
        (#"{"access_token":"x","expires_in":"soon"}"#, "an expires_in that"),
        (#"{"access_token":"x","expires_in":true,"expires_at":1700000900}"#, "an expires_in that"),
        (
            #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"x","expirationTimestamp":"2001-01-01 00:00"}}"#,
            "an expirationTimestamp that"
        ),
        (#"{"access_token":"x","expires_in":600,"expires_at":1600000000}"#, "has expired already"),
    ])
    func `names an end of the token that cannot be read`(output: String, words: String) {
        let told = complaint(output, "", failure: nil)
        #expect(told.contains(words), "\(told)")
    }

    @Test(arguments: [
        (#"{"access_token":"x","expires_in":600,"expires_at":1700000060}"#, 60),
        (#"{"access_token":"x","expires_in":"60","expires_at":1700000600}"#, 60),
        (#"{"access_token":"x","expires_in":null,"expires_at":"1700000060"}"#, 60),
        (#"{"access_token":"x","expires_in":60,"expires_at":null}"#, 60),
    ])
    func `is none where one end of two is the earlier, or one is null`(output: String, seconds: Int) throws {
        let output = CommandOutput(failure: nil, output: Array(output.utf8), error: [])
        let token = try output.token(of: "print", at: WallTime(secondsSinceEpoch: 1_700_000_000))
        #expect(token.lifetime == .seconds(seconds))
    }

    @Test func `says what the output lacks, and never shows it`() {
        for output in ["", "[]", "7", "\u{FFFD}\u{0}\u{1}", "{\"access_token\":\"secret-token\"", "{}"] {
            let told = complaint(output, "see the manual", failure: nil)
            #expect(told.hasPrefix("what print printed"), "\(told)")
            #expect(!told.contains("secret-token"))
        }
    }
}
