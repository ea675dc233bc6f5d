// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdRouting
import BearerdSystem
import OAuth

/// `upstream`: a route's upstream answers without a token and, with `--live`, with one.
enum UpstreamCheck: RouteCheck {
    static let id = CheckID.upstream

    static func look(at route: RouteConfiguration, of subject: DoctorSubject) async -> Finding {
        let place = "\(route.key.path) at \(route.upstream)"
        guard let path = path(of: route) else {
            return .skip("\(place): its allow permits no HEAD whose path is known, so nothing is asked")
        }
        var (way, spoken) = (Transport(), "")
        do throws(TrustStore.LoadError) {
            way = try route.transport.transport(
                encrypted: route.upstream.scheme == .https, trust: subject.trust)
        } catch {
            return .fail("\(place): \(CommandFailure(error).message)", fix: "ca_file of the route")
        }
        if route.upstreamProtocol != .http1 {
            switch await lookAtProtocol(of: route, place, subject) {
            case .failure(let refused): return refused.finding
            case .success(let isHTTP2):
                way.transfersByHTTP2 = isHTTP2
                let how = route.upstream.scheme == .https ? ", as its TLS chooses (ALPN)," : ""
                spoken = "speaks \(isHTTP2 ? "HTTP/2" : "HTTP/1.1")\(how) and "
            }
        }
        do throws(TransferError) {
            let without = try await ask(route, path, over: way, with: nil, subject)
            let seen = "\(place) \(spoken)answers \(words(for: without)) without a token"
            guard without.status < 500 else { return .warn(seen, fix: "look at the upstream") }
            guard subject.isLive, let identity = identity(of: route, subject) else { return .ok(seen) }
            let token: Secret
            switch await trial(of: route, as: identity, subject) {
            case .notTried(let reason): return .ok("\(seen); one is not tried: \(reason)")
            case .token(let found): token = found
            }
            let with = try await ask(route, path, over: way, with: token, subject)
            let both = "\(seen), \(words(for: with)) with one"
            let examined = subject.identities.first { $0.name == identity.name }
            return with.status == 401
                ? .fail(both, fix: DaemonCheck.refusedTokenFix(examined)) : .ok(both)
        } catch {
            return .fail("\(place): \(reason(of: error, way))", fix: UpstreamMend(route, way).fix(of: error))
        }
    }

    /// Why an upstream gets no request.
    private struct RefusedProtocol: Error {
        let finding: Finding
    }

    /// Checks that the upstream speaks the `upstream_protocol`, without sending it a request.
    ///
    /// - Returns: true if that is HTTP/2.
    private static func lookAtProtocol(
        of route: RouteConfiguration, _ place: String, _ subject: DoctorSubject
    ) async -> Result<Bool, RefusedProtocol> {
        func fail(_ reason: String, fix: String) -> Result<Bool, RefusedProtocol> {
            .failure(RefusedProtocol(finding: .fail("\(place): \(reason)", fix: fix)))
        }
        let address: UpstreamAddress
        do throws(TrustStore.LoadError) {
            address = try route.address(trust: subject.trust)
        } catch {
            return fail(CommandFailure(error).message, fix: "ca_file of the route")
        }
        let connector = UpstreamConnector(address: address, multis: CurlMultiSet(loop: subject.loop))
        do throws(UpstreamError) {
            return .success(try await connector.spokenProtocol(within: .seconds(10)) == .http2)
        } catch .noCommonProtocol {
            return fail(UpstreamError.noCommonProtocol.reason, fix: UpstreamMend.protocolAdvice)
        } catch .otherProtocol {
            return fail(UpstreamError.otherProtocol.reason, fix: UpstreamMend.protocolAdvice)
        } catch {
            return fail(
                error.reason(over: address.transport),
                fix: UpstreamMend(route, address.transport).fix(of: .notConnected(error)))
        }
    }

    /// The path to request: the upstream's own or, with `allow`, one that the rules permit.
    ///
    /// - Returns: nil if none is known.
    private static func path(of route: RouteConfiguration) -> String? {
        let own = route.upstream.path
        guard let rules = route.terms.rules else { return own.isEmpty ? "/" : own }
        let route = (path: String(decoding: route.key.canonicalPath, as: UTF8.self), terms: route.terms)
        let root = route.path.hasSuffix("/") ? String(route.path.dropLast()) : route.path
        let candidates = [route.path] + rules.rules.compactMap(\.path.example)
        let permitted = candidates.first { path in
            (path == route.path || path.hasPrefix(root + "/"))
                && rules.rule(for: .head, Array(path.utf8).span) != nil
        }
        guard let permitted else { return nil }
        let rest = route.terms.stripsPrefix ? String(permitted.dropFirst(root.count)) : permitted
        let path = (own.hasSuffix("/") ? String(own.dropLast()) : own) + rest
        return path.isEmpty ? "/" : path
    }

    private static func ask(
        _ route: RouteConfiguration, _ path: String, over way: Transport, with token: Secret?,
        _ subject: DoctorSubject
    ) async throws(TransferError) -> TransferResponse {
        var request = TransferRequest(method: .head, url: route.upstream.replacing(path: path))
        if case .value(let host) = route.terms.hostField { request.fields[.host] = host }
        route.terms.requestEdits.apply(to: &request.fields)
        if let token {
            RequestAuthorization.authorize(&request, withBearer: token, in: route.terms.credentials)
        }
        return try await subject.client.send(request, over: way)
    }

    private static func identity(
        of route: RouteConfiguration, _ subject: DoctorSubject
    ) -> IdentityConfiguration? {
        route.identity.flatMap { subject.configuration.identity(named: $0) }
    }

    /// The token to try, or why there is none, in words.
    private enum Trial {
        case token(Secret)
        case notTried(String)
    }

    /// The token for the route's target: the stored one, or what its source gave.
    ///
    /// A token for another target must not be sent to this upstream.
    private static func trial(
        of route: RouteConfiguration, as identity: IdentityConfiguration, _ subject: DoctorSubject
    ) async -> Trial {
        guard identity.client.source == nil else {
            guard route.target == nil else { return .notTried("the route's own is the daemon's to ask for") }
            guard route.terms.tokenQuery == nil else { return .notTried("it would stand in the URL") }
            return subject.sourceToken(of: identity.name).map { .token($0) }
                ?? .notTried("the source gave none")
        }
        let client = route.target.map(identity.client.aimed) ?? identity.client
        let session = try? await subject.store.session(of: identity.name)
        let now = WallTime(sinceEpoch: WallClock.sinceEpoch)
        guard let stored = session?.accessToken(of: client, at: now) else {
            return .notTried("none for it is stored that has not expired")
        }
        guard !stored.isBound else { return .notTried("it is bound to a key") }
        return .token(stored.token)
    }

    private static func words(for response: TransferResponse) -> String {
        guard response.status == 401 else { return "\(response.status)" }
        guard let challenge = BearerChallenge(in: response.fields.values(of: .wwwAuthenticate)) else {
            return "401 without a challenge for bearer tokens"
        }
        return "401" + (challenge.error.map { " (\($0.rawValue))" } ?? "")
    }

    private static func reason(of error: TransferError, _ way: Transport) -> String {
        if case .notConnected(let cause) = error { cause.reason(over: way) } else { error.reason }
    }
}
