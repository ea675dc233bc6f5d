// SPDX-License-Identifier: Apache-2.0

import Configuration
import EventLoop
import HTTPClient
import HTTPMessages

/// `dns`: whether the provider's name has addresses, and of which families.
enum NameCheck: IdentityCheck {
    static let id = CheckID.dns

    static func look(at identity: ExaminedIdentity, of patient: Patient) -> Finding {
        guard let url = identity.url else { return .skip("the provider has no address yet") }
        if case .url = identity.way.proxy { return .skip("the proxy looks the name up") }
        let host = identity.configuration.transport.connectTo?.host ?? url.host
        let addresses = HostLookup.addresses(of: host)
        guard !addresses.isEmpty else {
            return .fail(
                "\(host) has no address: the name is wrong, or no name server answers",
                fix: "\(identity.key("issuer")), or the servers in /etc/resolv.conf")
        }
        guard addresses != [host] else { return .ok("\(host) is an address") }
        let sixes = addresses.count { $0.contains(":") }
        let words = [("IPv4", addresses.count - sixes), ("IPv6", sixes)].map { family, count in
            count == 0 ? "no \(family)" : "\(count) \(family)"
        }
        return .ok("\(host): \(words.joined(separator: ", "))")
    }
}
