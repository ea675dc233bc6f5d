// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// The keys of a `routes[].identity` that is a map.
enum CallerIdentityKey: String, ConfigurationKey {
    case users = "uid"
}

/// Routes whose identity depends on the calling user.
extension Section<RouteConfiguration.Key> {
    /// The users that the route names, each once, with their identities' names; nil for no identity.
    func identitiesByUser(
        in context: RouteConfiguration.Context
    ) -> [(user: UInt32, identity: String?)] {
        checkListeners(context.listeners)
        let section = self.section(.identity, CallerIdentityKey.self)
        section.require(.users, "is missing: a map from uids to identities, as in {uid: {1000: alice}}")
        guard let entries = section.map(.users, .text) else { return [] }
        // Entries with a wrong value were reported already.
        if entries.isEmpty, !section.hasEntries(.users), section.has(.users) {
            section.error(.users, "names nobody, so that everybody gets 403; name one user at least")
        }
        return entries.compactMap { name, value in
            let identity = self.identity(value, among: context.identities)
            guard let user = self.user(name) else { return nil }
            checkPeer(user, at: name.place, context.peers)
            return (user, identity)
        }
    }

    /// The name of an identity; nil for none.
    func identity(_ name: Found<String>, among names: [String]?) -> String? {
        guard name.value != RouteConfiguration.noIdentity else { return nil }
        if let names, !names.contains(name.value) {
            let hint = NearMiss.hint(for: name.value, among: names + [RouteConfiguration.noIdentity])
            reading.error("there is no identity '\(name.value)'\(hint)", at: name.place)
        }
        return name.value
    }

    /// A user's number, in its only accepted spelling, so that no user is named twice.
    ///
    /// The largest number is refused: to the kernel it means nobody.
    private func user(_ name: Found<String>) -> UInt32? {
        let isNumber = !name.value.isEmpty && name.value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, name.value == "0" || !name.value.hasPrefix("0") else {
            reading.error(
                "'\(name.value)' is not a uid: write the number, as `id -u NAME` prints it", at: name.place)
            return nil
        }
        guard let user = UInt32(name.value), user < .max else {
            reading.error("\(name.value) is not in 0...\(UInt32.max - 1)", at: name.place)
            return nil
        }
        return user
    }

    /// Requires a Unix socket: the user of a TCP peer is unknown, and passed sockets are judged at the start.
    private func checkListeners(_ listeners: [ListenAddress]) {
        guard !isInDoubt(.listen), !listeners.isEmpty else { return }
        let own = has(.listen) ? value(.listen, .listenAddress(in: reading)).map { [$0.value] } : listeners
        guard let open = own?.first(where: \.isTCP) else { return }
        let way =
            listeners.first { !$0.isTCP }.map { "give the route listen: \($0)" }
            ?? "add a unix: listener to listen, and name it in the route's listen"
        error(.identity, "a caller's uid is known on Unix sockets alone, not on \(open): \(way)")
    }

    /// Warns if the user may not even connect.
    private func checkPeer(_ user: UInt32, at place: Place, _ peers: RouteConfiguration.Peers) {
        switch peers {
        case .listed(let users) where !users.contains(user):
            reading.warn("access.peer_uids refuses this user first: list \(user) there too", at: place)
        case .own where user != 0 && user != CurrentProcess.effectiveUser:
            reading.warn(
                "without access.peer_uids only the daemon's own user and root may connect: list \(user) there",
                at: place)
        case .listed, .own, .inDoubt: break
        }
    }
}
