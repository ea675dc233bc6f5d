// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// The end of a program that is to print a token, and its output.
package struct CommandOutput: Sendable {
    /// How it ended, in words after its name; nil if it exited with 0.
    package let failure: String?
    /// True if it was killed because it took too long.
    package let isLate: Bool
    /// Its standard output, which is shown to nobody.
    package let output: [UInt8]
    /// The beginning of what it wrote to standard error.
    package let error: [UInt8]

    package init(failure: String?, isLate: Bool = false, output: [UInt8], error: [UInt8]) {
        self.failure = failure
        self.isLate = isLate
        self.output = output
        self.error = error
    }

    /// The token that was printed: `{"access_token", "expires_in" or "expires_at", "token_type"}`, or an ExecCredential of
    /// Kubernetes (`client.authentication.k8s.io`).
    ///
    /// - Throws: ``TokenFailure`` of kind transient, with the exit code and a part of standard error that repeats no token.
    package func token(of program: String, at wall: WallTime) throws(TokenFailure) -> TokenResponse {
        if let failure {
            throw TokenFailure(
                .transient, isLate ? .timedOut : .commandFailed,
                detail: "\(program) \(failure)" + (shownError.map { ": \"\($0)\"" } ?? ""))
        }
        func useless(_ reason: TokenFailure.Reason, _ words: String) -> TokenFailure {
            TokenFailure(
                .transient, reason,
                detail: "what \(program) printed \(words)" + (shownError.map { ": \"\($0)\"" } ?? ""))
        }
        func unreadable(_ words: String) -> TokenFailure { useless(.commandFailed, words) }
        guard let object = try? JSONObject(parsing: output) else {
            throw useless(.commandFailed, "is no JSON object")
        }
        if object["kind"] != nil || object["apiVersion"] != nil {
            guard object["kind"]?.string == "ExecCredential",
                let version = object["apiVersion"]?.string, Self.versions.contains(version)
            else { throw useless(.commandFailed, "is no ExecCredential of a version that is known") }
            let status = object["status"]?.object
            guard let token = status?["token"]?.string.map({ Secret($0) }), token.isToken else {
                throw useless(.noAccessToken, "has no status.token that can be sent")
            }
            let end = try status?.end("expirationTimestamp", WallTime.init(momentIn:), unreadable)
            return try TokenResponse(accessToken: token, lifetime: nil)
                .ofSource(endingAt: end, wall, at: program)
        }
        guard object["error"] ?? .null == .null else { throw useless(.noAccessToken, "has an error in it") }
        switch ResponseBody.object(object).tokenResponse(accepting: ["bearer"], provedWith: nil) {
        case .failure(let failure):
            throw useless(failure.reason, "cannot be used: \(failure.detail)")
        case .success(let token):
            try object.checkLifetime(of: token, unreadable)
            let end = try object.end("expires_at", WallTime.init(momentIn:), unreadable)
            return try token.ofSource(endingAt: end, wall, at: program)
        }
    }

    private static let versions: Set<String> = [
        "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1",
    ]

    /// At most 200 printable bytes of standard error; nil for none, or if they repeat anything that was printed, or a
    /// secret that this process holds.
    private var shownError: String? {
        let said = String(decoding: error.prefix(Self.longestRead), as: UTF8.self)
        let printed = PrintedSecrets(in: output)
        // Listed while this looks, so that an encoded token is found too.
        let listings = printed.tokens.map { SecretListing($0) }
        return withExtendedLifetime(listings) {
            guard !SecretListing.isShortRepeated(in: said), !printed.isShortRepeated(in: Array(said.utf8))
            else { return nil }
            return ErrorDescription(said, beside: nil, hiding: printed.texts)?.text
        }
    }

    /// The rest of standard error is not looked at, and not shown; in bytes.
    private static let longestRead = 1000
}

/// Runs programs that print tokens, outside of any sandbox.
package protocol TokenProgramRunner: Sendable {
    /// Runs a program to its end.
    ///
    /// - Throws: ``CredentialError`` if the system refuses what is needed for it.
    func run(_ command: TokenProgram) async throws(CredentialError) -> CommandOutput
}

extension AuthorizationServer {
    /// The token that a program prints.
    ///
    /// - Parameter wall: when the program was started, from which its session counts lifetimes.
    func printedToken(of command: TokenProgram, _ wall: WallTime) async throws(TokenFailure) -> TokenResponse
    {
        guard let runner = credentials.source as? any TokenProgramRunner else {
            throw TokenFailure(.misconfigured, .commandFailed, detail: "no program can be run here")
        }
        let output: CommandOutput
        let place = "the command \(command.words[0])"
        begin(awaiting: place)
        defer { end(awaiting: place) }
        do throws(CredentialError) {
            output = try await runner.run(command)
        } catch {
            throw TokenFailure(.transient, .commandFailed, detail: error.reason)
        }
        return try output.token(of: command.words[0], at: wall)
    }
}

extension WallTime {
    /// A moment as RFC 3339 has it, or in seconds since 1970; nil for anything else.
    init?(momentIn value: JSONValue) {
        if let moment = value.string.flatMap(WallTime.init(rfc3339:)) {
            self = moment
        } else {
            self.init(secondsIn: value)
        }
    }
}
