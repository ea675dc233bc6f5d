// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import OAuth

extension Invariants {
    /// Checks the verdict on an id token.
    ///
    /// The input is the token, a line end, and a document of keys.
    package static func violation(idToken bytes: [UInt8]) -> String? {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let text = Secret(bytes: Array(parts.first ?? []))
        let keys = parts.count == 2 ? try? JSONWebKeySet(parsing: Array(parts[1])) : nil
        let token: IDToken
        do throws(IDTokenError) {
            token = try IDToken(parsing: text)
        } catch {
            return error.reason.isEmpty ? "an error without words" : nil
        }
        if token.issuer.isEmpty || token.subject.isEmpty || token.audience.isEmpty { return "an empty claim" }
        if "\(token)" != "[id token]" { return "a token that shows itself" }
        guard let keys, (try? keys.verify(token.signed)) != nil else { return nil }
        return JWSAlgorithm.asymmetric.contains(token.signed.algorithm)
            ? nil : "a signature that needs no key"
    }

    /// Checks the verdict on a redirect's query.
    ///
    /// `STATE` in the input stands for the state that the answer must have.
    package static func violation(redirect bytes: [UInt8]) -> String? {
        guard let endpoint = HTTPURL("https://sso.example/auth?x=y") else { return "no endpoint" }
        let configuration = ClientConfiguration(
            name: "default", clientID: "app", grantType: .authorizationCode)
        let request = AuthorizationRequest(
            configuration: configuration, endpoint: endpoint, redirectURI: "http://127.0.0.1:1/callback",
            issuer: "https://sso.example", requiresIssuer: bytes.first == UInt8(ascii: "&"))
        let state = request.state.withPlaintext { $0 }
        let query = String(decoding: bytes, as: UTF8.self).replacing("STATE", with: state)
        do throws(AuthorizationResponseError) {
            let response = try request.response(in: query)
            if !query.contains(state) { return "an answer without our state" }
            switch response {
            case .granted(let code):
                return code.code.isEmpty ? "a code of nothing" : nil
            case .refused(let refusal):
                let words = refusal.description ?? ""
                return words.utf8.count <= 300 && words.utf8.allSatisfy { 0x20...0x7E ~= $0 }
                    ? nil : "words that a terminal would obey"
            }
        } catch {
            return error.reason.isEmpty ? "an error without words" : nil
        }
    }
}
