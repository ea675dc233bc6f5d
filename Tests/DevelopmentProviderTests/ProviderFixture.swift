// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdDevelopmentProvider
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth
import Synchronization

/// A provider with one confidential and one public client, a sample API, and a clock that is turned by hand.
final class ProviderFixture: Sendable {
    static let issuer = "http://127.0.0.1:9080"
    static let redirectURI = "http://127.0.0.1:4711/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let provider: DevelopmentProvider
    let api: SampleAPI
    private let clock: Clock

    private final class Clock: Sendable {
        let now = Mutex(WallTime(secondsSinceEpoch: 1_800_000_000))
    }

    init(key: SigningKey? = nil) throws {
        guard let origin = HTTPURL(Self.issuer) else { throw JOSEError.malformed }
        let clock = Clock()
        let settings = ProviderSettings(
            origin: origin,
            clients: [
                DevelopmentClient(id: "demo", secret: Secret("s&cr+t %")),
                DevelopmentClient(id: "native", secret: nil),
                DevelopmentClient(
                    id: "web", secret: Secret("x"), redirectURIs: ["https://web.example/cb?a=b"]),
            ])
        provider = try DevelopmentProvider(settings, key: key ?? .generateP256()) {
            clock.now.withLock { $0 }
        }
        api = SampleAPI(trusting: [provider.trust]) { clock.now.withLock { $0 } }
        self.clock = clock
    }

    func pass(_ duration: Duration) {
        clock.now.withLock { $0 = $0 + duration }
    }

    func get(_ target: String, _ fields: (HTTPFields.Name, String)...) async -> ServiceReply {
        await provider.respond(to: request(.get, target, [], fields))
    }

    func post(
        _ target: String, _ form: KeyValuePairs<String, String>, _ fields: (HTTPFields.Name, String)...
    ) async -> ServiceReply {
        await post(target, form.map { ($0.key, $0.value) }, fields)
    }

    func post(
        _ target: String, _ form: [(String, String)], _ fields: [(HTTPFields.Name, String)]
    ) async -> ServiceReply {
        let body = form.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")
        let type = (HTTPFields.Name.contentType, "application/x-www-form-urlencoded")
        return await provider.respond(to: request(.post, target, Array(body.utf8), [type] + fields))
    }

    func callAPI(
        _ target: String, token: String?, method: HTTPMethod = .get, body: [UInt8] = []
    ) async -> ServiceReply {
        await api.respond(
            to: request(method, target, body, token.map { [(.authorization, "Bearer \($0)")] } ?? []))
    }

    func callAPI(_ target: String, _ fields: [(HTTPFields.Name, String)]) async -> ServiceReply {
        await api.respond(to: request(.get, target, [], fields))
    }

    private func request(
        _ method: HTTPMethod, _ target: String, _ body: [UInt8], _ fields: [(HTTPFields.Name, String)]
    ) -> ServiceRequest {
        var head = HTTPRequest(method: method, target: target)
        head.fields[.host] = "127.0.0.1:9080"
        for (name, value) in fields { head.fields[name] = value }
        return ServiceRequest(head: head, body: body)
    }

    /// What the confidential client gets with its own credentials.
    func clientToken(scope: String = "read") async -> String? {
        await post(
            "/token", ["grant_type": "client_credentials", "scope": scope], (.authorization, Self.basic)
        ).json["access_token"]?.string
    }

    /// The authorization request of a client, ready for a query.
    static func authorization(_ client: String, _ more: KeyValuePairs<String, String> = [:]) -> String {
        let all: [(key: String, value: String)] =
            [
                ("response_type", "code"), ("client_id", client), ("redirect_uri", redirectURI),
                ("state", "st&te"),
                ("scope", "openid profile email"), ("code_challenge", challenge),
                ("code_challenge_method", "S256"),
                ("nonce", "n-1"),
            ] + more.map { ($0.key, $0.value) }
        let last = all.enumerated().filter { index, pair in
            !all[(index + 1)...].contains { $0.key == pair.key }
        }
        return "/authorize?"
            + last.map { "\(encode($0.element.key))=\(encode($0.element.value))" }.joined(separator: "&")
    }

    /// Logs alice in and gives back what the client receives at its redirect URI.
    func logIn(_ client: String) async throws -> ServiceReply {
        let page = await get(Self.authorization(client))
        return await post(
            "/login",
            ["transaction": try page.hidden("transaction"), "username": "alice", "password": "wonderland"])
    }

    /// Logs alice in at the public client and redeems the code.
    func logInAndRedeem() async throws -> JSONObject {
        let code = try await logIn("native").redirect("code")
        return await redeem(code).json
    }

    func redeem(
        _ code: String, verifier: String = verifier, redirectURI: String = redirectURI
    ) async -> ServiceReply {
        await post(
            "/token",
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI,
                "code_verifier": verifier, "client_id": "native",
            ])
    }

    func refresh(_ token: String?) async -> ServiceReply {
        await post(
            "/token", ["grant_type": "refresh_token", "refresh_token": token ?? "", "client_id": "native"])
    }

    /// The confidential client's credentials, form-encoded.
    static let basic = "Basic " + Base64.encode(Array("demo:s%26cr%2Bt+%25".utf8))
}

/// Form encoding, written once more so that the provider's own is tested.
func encode(_ text: String) -> String {
    text.utf8.map { byte in
        let scalar = Unicode.Scalar(byte)
        if scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
            return String(scalar)
        }
        return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
    }.joined()
}

extension ServiceReply {
    struct Missing: Error {
        let what: String
    }

    var status: Int { head.status }

    var bytes: [UInt8] {
        guard case .bytes(let bytes) = body else { return [] }
        return bytes
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var json: JSONObject { (try? JSONObject(parsing: bytes)) ?? [:] }

    /// The value of a hidden input of a page.
    func hidden(_ name: String) throws -> String {
        guard let start = text.range(after: "name=\"\(name)\" value=\""),
            let value = text[start...].split(separator: "\"", omittingEmptySubsequences: false).first
        else { throw Missing(what: name) }
        return String(value)
    }

    /// A parameter of the redirect.
    func redirect(_ name: String) throws -> String {
        let query = head.fields[.location]?.split(separator: "?").last ?? ""
        for pair in query.split(separator: "&") where pair.hasPrefix(name + "=") {
            return String(pair.dropFirst(name.count + 1))
        }
        throw Missing(what: name)
    }
}

extension String {
    /// The index behind the first occurrence of a text.
    fileprivate func range(after needle: String) -> String.Index? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return index(start, offsetBy: needle.count) }
            start = index(after: start)
        }
        return nil
    }
}
