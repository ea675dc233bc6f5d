// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import OAuth

/// `bearerd token`: the only command whose purpose is to show a token.
struct TokenCommand: IdentityCommand {
    static let name = "token"
    static let summary = "prints a fresh access token alone"
    static let details = [
        "Prints the next token where the stored one is due for a refresh and that succeeds within timeouts.token_wait.",
        "--claims prints what a JWT says, never its signature: whom it is for (aud), until when (exp), with which scope. An "
            + "opaque token has nothing to show: the exit status is 65.",
        "A token that is bound to a key (dpop) is of use for one request at a time: --header --dpop GET URL prints "
            + "its Authorization and DPoP lines for that request. A server that wants a nonce tells it in the field DPoP-Nonce "
            + "of its answer: --nonce puts that into the proof.",
    ]
    static let options = [header, dpop, nonce, idToken, claims]

    private static let header = CommandOption("header", "the whole Authorization line")

    private static let dpop = CommandOption(
        "dpop", value: "METHOD URL", "with --header: the DPoP line for one request too")

    private static let nonce = CommandOption(
        "nonce", value: "NONCE", "with --dpop: what the server's last answer said in DPoP-Nonce")

    private static let idToken = CommandOption("id-token", "the id token in its place")

    private static let claims = CommandOption(
        "claims", "what the token says, as JSON, in place of the token; with --id-token the id token")

    static let needsProvider = false

    let operand: IdentityOperand
    private let showsClaims: Bool
    private let showsHeader: Bool
    /// The request for which the lines are printed.
    private let provedRequest: TransferRequest?
    /// The server's DPoP nonce; nil for none.
    private let nonce: String?
    private let showsIDToken: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
        showsHeader = arguments.has(Self.header)
        showsIDToken = arguments.has(Self.idToken)
        showsClaims = arguments.has(Self.claims)
        guard !showsHeader || !showsClaims else {
            throw CommandFailure(.usage, "claims are no token, and go into no header: --header or --claims")
        }
        guard !showsHeader || !showsIDToken else {
            throw CommandFailure(.usage, "an id token goes into no header: --header or --id-token")
        }
        nonce = arguments.value(Self.nonce)
        guard let words = arguments.value(Self.dpop)?.split(separator: " ") else {
            provedRequest = nil
            guard nonce == nil else {
                throw CommandFailure(.usage, "--nonce is for --dpop: it goes into the proof")
            }
            return
        }
        guard showsHeader else {
            throw CommandFailure(.usage, "--dpop is for --header: it prints both lines")
        }
        guard words.count == 2, words[0].utf8.allSatisfy({ 0x41...0x5A ~= $0 || $0 == 0x2D }),
            let url = HTTPURL(String(words[1])), url.scheme != .unix
        else { throw CommandFailure(.usage, "--dpop needs a method, in capitals, and an http or https URL") }
        guard nonce.map(DPoPNonces.isNonce) ?? true else {
            throw CommandFailure(
                .usage,
                "--nonce needs the value of a DPoP-Nonce field: printable ASCII without spaces, quotes and backslashes"
            )
        }
        provedRequest = TransferRequest(method: HTTPMethod(rawValue: String(words[0])), url: url)
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        try chosen.requireOwnToken()
        let (showsHeader, showsIDToken) = (showsHeader, showsIDToken)
        let (provedRequest, nonce, showsClaims) = (provedRequest, nonce, showsClaims)
        let text = try chosen.askWithAdvice { session throws(CommandFailure) in
            if showsHeader { return try await session.authorization(of: provedRequest, nonce: nonce) }
            let token = showsIDToken ? try await session.idToken() : try await session.freshToken().token
            guard showsClaims else { return token.withPlaintext { $0 } }
            guard let claims = token.withPlaintext({ try? JWS(compact: $0) })?.claims else {
                throw CommandFailure(
                    .badData,
                    "\(session.session.identity): the token is opaque, no JWT: what it says is for the provider's introspection alone"
                )
            }
            return String(decoding: claims.serialized(pretty: true), as: UTF8.self)
        }
        try Console.show(text.hasSuffix("\n") ? text : "\(text)\n")
    }
}

extension IdentitySession {
    /// The header lines that authorise a request, with a fresh token.
    ///
    /// - Parameters:
    ///   - request: the request; nil for any, which needs a bearer token.
    ///   - nonce: the nonce of the proof; nil for none.
    fileprivate func authorization(
        of request: TransferRequest?, nonce: String?
    ) async throws(CommandFailure) -> String {
        let token = try await freshToken()
        var head = HTTPRequest(method: request?.method ?? .get, target: "/")
        var authorization = RequestAuthorization(.init(scheme: scheme))
        authorization.authorize(&head, with: token)
        if token.isBound {
            guard let request else {
                throw CommandFailure(
                    .usage,
                    "\(session.identity): the token is bound to a key (dpop), and of no use without a proof for each "
                        + "request: 'bearerd token --header --dpop METHOD URL' prints both lines")
            }
            let target = DPoPTarget(request.url)
            session.proofs.nonces.note(nonce, from: target.origin)
            let proof = RequestAuthorization.proof(
                of: token, for: head, at: target, nonces: session.proofs.nonces)
            if let proof { RequestAuthorization.put(proof: try await sign(proof), into: &head) }
        } else if request != nil {
            Console.remark(
                "\(session.identity): the token is bound to no key (dpop), so it needs no proof: there is no DPoP line"
            )
        }
        var lines: [String] = []
        head.fields.forEach { name, value in lines.append("\(name): \(value)") }
        return lines.joined(separator: "\n")
    }

    private func sign(_ proof: DPoPProof) async throws(CommandFailure) -> String {
        do throws(JOSEError) {
            return try await session.proofs.sign(proof)
        } catch {
            throw CommandFailure(.failure, "\(session.identity): the proof for DPoP cannot be signed")
        }
    }
}
