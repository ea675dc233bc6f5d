// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// The members of the admin listener's documents; they are spelled here and nowhere else.
enum AdminMember: String {
    case additional, additions, answers, at, audience, binding, code, column, denied, detail, draining
    case errors, file, generation, host
    case identities, identity, interval, key, keys, kind, line, listen, message, methods, name, nonce
    case parameters, path, permissions, person, pid
    case ready, reason, reasons, replayed, replays, repositories, requests, resource
    case revocation, revoked, routes, running
    case scope, state, store, tokens, total
    case upstream, version, warnings
    case byStatus = "by_status"
    case clientID = "client_id"
    case configurationFile = "configuration_file"
    case deviceCode = "device_code"
    case endSession = "end_session"
    case endedCertificates = "ended_certificates"
    case expiresAt = "expires_at"
    case goesOnFromMemory = "goes_on_from_memory"
    case hasIDToken = "has_id_token"
    case hasRefreshToken = "has_refresh_token"
    case idToken = "id_token"
    case isChanged = "changed"
    case isServing = "token_usable"
    case lastError = "last_error"
    case lastRefresh = "last_refresh"
    case lifetime = "lifetime_seconds"
    case expiresIn = "expires_in"
    case median = "p50_seconds"
    case nextRequest = "next_refresh"
    case onlyInMemory = "only_in_memory"
    case openConnections = "open_connections"
    case openStreams = "open_streams"
    case proofKey = "proof_key"
    case rate = "requests_per_second"
    case refusedReload = "refused_reload"
    case redirectURI = "redirect_uri"
    case refreshToken = "refresh_token"
    case secretExpiry = "client_secret_expires_at"
    case silentWorkers = "silent_workers"
    case slowest = "p99_seconds"
    case startedAt = "started_at"
    case storeDirectory = "store_directory"
    case tokenError = "token_error"
    case upstreamProtocol = "upstream_protocol"
    case upstreamState = "upstream_state"
    case uptime = "uptime_seconds"
    case verifier = "code_verifier"
}

extension JSONObject {
    /// An object of these members, without those that are nil.
    init(admin members: KeyValuePairs<AdminMember, JSONValue?>) {
        self.init(members: members.compactMap { member, value in value.map { (member.rawValue, $0) } })
    }
}

extension JSONValue {
    /// An object of these members, without those that are nil.
    init(admin members: KeyValuePairs<AdminMember, JSONValue?>) { self = .object(JSONObject(admin: members)) }

    init(count: Int) { self = .integer(Int64(count)) }

    /// A member of an object.
    subscript(member: AdminMember) -> JSONValue? { self[member.rawValue] }

    /// A member of an object, if it is a whole number.
    func count(_ member: AdminMember) -> Int? { self[member]?.integer.map { Int($0) } }

    func strings(_ member: AdminMember) -> [String] { self[member]?.array?.compactMap(\.string) ?? [] }
}
