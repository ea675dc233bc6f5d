// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdEventLoop
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdSystem

/// Decides who may read and who may act on the admin listener.
struct AdminAccess {
    let hosts: HostList
    let key: CurrentSecret?
    /// True if the listener is off loopback, where nothing is shown without a key, even if none is
    /// configured.
    let needsKey: Bool
    /// The users of this machine who may change something without the key.
    let owners: Set<UInt32>
    let guesses: KeyGuesses
    let cookies: KeyCookies

    /// The value of `X-Bearerd-Admin` that shows intent without giving a key.
    private static let sign = "1"
    private static let purpose = HTTPFields.Name("Sec-Purpose")
    private static let destination = HTTPFields.Name("Sec-Fetch-Dest")

    /// Checks a request for anything but health, readiness and metrics.
    ///
    /// Callers of this machine need no key, but a wrong one is refused unless the caller has already guessed
    /// too often.
    func checkReading(_ request: ServiceRequest, as guesser: PeerAddress) throws(AdminError) {
        try checkHost(request)
        let isHere = request.peer.isThisMachine
        do throws(AdminError) {
            guard try !hasKey(request, as: guesser), !isHere else { return }
        } catch {
            guard isHere, case .tooManyGuesses = error else { throw error }
            return
        }
        if key != nil { throw .wrongKey }
        if needsKey { throw .noKey }
    }

    /// Checks that the request names this listener, so that a web page cannot reach it by DNS rebinding.
    func checkHost(_ request: ServiceRequest) throws(AdminError) {
        let host = request.head.fields[.host]
        guard hosts.contains(host) else { throw .wrongHost(shown: PlainName.host(host)) }
    }

    /// Refuses requests of other sites' pages, as far as the browser tells; a person may follow their links.
    ///
    /// - Parameter isForPerson: true for a resource that only a browser's window may request, and no page,
    ///   image or frame.
    func checkSite(_ request: ServiceRequest, isForPerson: Bool) throws(AdminError) {
        let fields = request.head.fields
        func says(_ name: HTTPFields.Name?, _ words: Set<String>) -> Bool? {
            name.flatMap { fields[$0] }.map { words.contains($0.lowercased()) }
        }
        let navigates = says(.secFetchMode, ["navigate"])
        if isForPerson {
            // A page that a browser fetches before its person wants it begins nothing either.
            guard navigates ?? true, says(Self.destination, ["document"]) ?? true,
                !(Self.purpose.flatMap { fields[$0] } ?? "").lowercased().hasPrefix("prefetch")
            else { throw .notFromHere }
        } else if says(.secFetchSite, ["cross-site", "same-site"]) ?? false {
            guard navigates ?? false else { throw .notFromHere }
        }
    }

    /// Checks a key that was typed into our own page.
    ///
    /// - Returns: the value of `Set-Cookie` that replaces the key from now on.
    func cookie(for typed: String, as guesser: PeerAddress) throws(AdminError) -> String {
        guard let key else { throw .noKey }
        try check([typed], against: key, from: guesser)
        return cookies.cookie(for: key)
    }

    /// Checks that a form was sent by our own page, which browsers tell in `Origin`.
    func checkForm(_ request: ServiceRequest) throws(AdminError) {
        let head = request.head
        guard head.fields.contains(.origin), isFromHere(head) else { throw .notFromHere }
    }

    /// Checks a request that changes something: a page of another site can send neither the header nor our
    /// origin.
    ///
    /// Any key shows intent: a wrong one was refused by ``checkReading(_:as:)``, or is judged no more, like the right one, of who
    /// has guessed too often.
    func checkActing(_ request: ServiceRequest) throws(AdminError) {
        let head = request.head
        guard let header = head.fields[.bearerdAdmin], head.fields.count(of: .bearerdAdmin) == 1,
            header == Self.sign || key != nil && !header.isEmpty, isFromHere(head)
        else { throw .notFromHere }
    }

    /// Checks a request that ends, replaces or begins a session, for which another user of this machine needs
    /// the key.
    ///
    /// Call it last and after ``checkReading(_:as:)``, because it asks the kernel.
    ///
    /// - Returns: what lets the request do so.
    func checkOwner(
        _ request: ServiceRequest, as guesser: PeerAddress
    ) async throws(AdminError) -> OwnerRight {
        let digest = try hasKey(request, as: guesser) ? key?.digest(salted: []) : nil
        let user = await request.peerUser()
        let isOwner = user.isAmong(owners)
        guard isOwner || digest != nil else { throw .notOurUser(user) }
        return OwnerRight(keyDigest: digest, user: isOwner ? user : nil)
    }

    /// Returns true if something of a right still counts, which a request had earlier.
    func grants(_ right: OwnerRight) -> Bool {
        if let user = right.user, user.isAmong(owners) { return true }
        return right.keyDigest != nil && right.keyDigest == key?.digest(salted: [])
    }

    /// The party to whom a wrong key is charged.
    ///
    /// Users of this machine share one address and must not lock each other out, so each counts separately.
    ///
    /// - Parameter hasTyped: true if the key is in the body.
    func guesser(of request: ServiceRequest, hasTyped: Bool = false) async -> PeerAddress {
        guard key != nil, request.peer.isThisMachine, hasTyped || !given(in: request.head).isEmpty,
            case .known(let user) = await request.peerUser()
        else { return request.peer }
        return .unix(user: user, process: 0)
    }

    /// The party whose event streams are counted together: a user of this machine, else a machine.
    func watcher(of request: ServiceRequest) async -> String {
        guard request.peer.isThisMachine, case .known(let user) = await request.peerUser() else {
            return request.peer.text
        }
        return "uid \(user)"
    }

    /// Returns true if the request has the key, or a cookie that replaces it.
    private func hasKey(_ request: ServiceRequest, as guesser: PeerAddress) throws(AdminError) -> Bool {
        guard let key else { return false }
        let given = given(in: request.head)
        guard !given.isEmpty else { return cookies.stand(for: key, in: request.head.fields) }
        try check(given, against: key, from: guesser)
        return true
    }

    /// Accepts one right key; a request with several is guessing.
    private func check(
        _ given: [String], against key: CurrentSecret, from peer: PeerAddress
    ) throws(AdminError) {
        if let delay = guesses.delay(for: peer) { throw .tooManyGuesses(delay) }
        let wrong = given.count { !key.matches(Array($0.utf8)) }
        guard wrong > 0 else { return }
        guesses.wrong(wrong, from: peer)
        throw .wrongKey
    }

    /// All keys in the request.
    private func given(in request: HTTPRequest) -> [String] {
        let bearer = request.fields.values(of: .authorization).map { value -> String in
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return "" }
            return String(parts[1])
        }
        return bearer + request.fields.values(of: .bearerdAdmin).filter { $0 != Self.sign }
    }

    /// Returns true unless a page of another origin sends the request.
    ///
    /// Behind a TLS proxy only the browser can compare our pages' origin, and it tells the result in a field
    /// that no page can set.
    private func isFromHere(_ request: HTTPRequest) -> Bool {
        guard let origin = request.fields[.origin] else { return true }
        if request.fields.values(of: .secFetchSite) == ["same-origin"] { return true }
        guard let host = request.fields[.host], request.fields.count(of: .origin) == 1 else { return false }
        return origin.lowercased() == "http://\(host.lowercased())"
    }
}

extension PeerAddress {
    /// True for a program of this machine.
    fileprivate var isThisMachine: Bool {
        switch self {
        case .ip(let address): IPAddress.isLoopback(host: address)
        case .unix: true
        case .unknown: false
        }
    }
}
