// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdSystem
import Synchronization

/// `dns`: the provider's name has addresses.
enum NameCheck: IdentityCheck {
    static let id = CheckID.dns

    /// The time limit of the lookup; the system's own may be minutes.
    private static let limit = Duration.seconds(5)

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        guard let url = identity.url else { return .skip(identity.withoutAddress) }
        if case .url = identity.way.proxy(to: url) { return .skip("the proxy looks the name up") }
        let destination = identity.configuration.transport.connectTo
        let host = destination?.host ?? url.host
        let found = await addresses(of: host, on: subject.loop)
        if found?.isEmpty ?? true, identity.way.proxy(to: url).server(for: url.scheme) != nil {
            return .skip("\(host) has no address here; the environment's proxy may find one")
        }
        guard let addresses = found else {
            return .fail(
                "the name servers say nothing of \(host) within \(limit.components.seconds) s",
                fix: "the servers in /etc/resolv.conf")
        }
        guard !addresses.isEmpty else {
            return .fail(
                "\(host) has no address: the name is wrong, or no name server answers",
                fix:
                    "\(destination == nil ? identity.addressKey : identity.key("connect_to")), or the servers in /etc/resolv.conf"
            )
        }
        guard addresses != [host] else { return .ok("\(host) is an address") }
        let sixes = addresses.count { $0.contains(":") }
        let words = [("IPv4", addresses.count - sixes), ("IPv6", sixes)].map { family, count in
            count == 0 ? "no \(family)" : "\(count) \(family)"
        }
        return .ok("\(host): \(words.joined(separator: ", "))")
    }

    /// Resolves a name on a thread of its own, which may outlive the wait.
    ///
    /// - Returns: nil if no answer came in time.
    private static func addresses(of host: String, on loop: EventLoop) async -> [String]? {
        guard let thread = try? ThreadExecutor(named: "names") else { return nil }
        let box = FoundAddresses()
        let count = TimedCount()
        Task(executorPreference: thread) {
            box.put(HostLookup.addresses(of: host))
            count.finishedOne()
        }
        _ = await count.wait(for: 1, atMost: limit, on: loop)
        return box.addresses
    }
}

/// The result of a lookup, shared between two threads.
private final class FoundAddresses: Sendable {
    private let found = Mutex<[String]?>(nil)

    var addresses: [String]? { found.withLock { $0 } }

    func put(_ addresses: [String]) { found.withLock { $0 = addresses } }
}
