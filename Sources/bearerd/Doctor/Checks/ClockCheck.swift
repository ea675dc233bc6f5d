// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// `clock`: the provider's clock agrees with ours, on which tokens and assertions depend.
enum ClockCheck: IdentityCheck {
    static let id = CheckID.clock
    static let needs = [CheckID.dns, .tls]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        if let source = identity.client.source, source.server == nil || source.isNearby {
            return .skip("source: \(source.name.rawValue) needs no clock but ours")
        }
        if identity.isDiscovered {
            _ = await identity.discovered()
        } else if let url = identity.url {
            _ = try? await identity.get(url)
        }
        guard let offset = identity.clockOffset else {
            return .skip("the provider's answer, if there is one, tells no time")
        }
        let seconds = Int((offset / .seconds(1)).rounded())
        let seen = "the provider's clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") ours"
        // The header tells whole seconds.
        guard max(offset, .zero - offset) > identity.client.clockSkew + .seconds(1) else { return .ok(seen) }
        return .fail(
            "\(seen), more than \(identity.key("clock_skew"))", fix: "timedatectl set-ntp true, here or there"
        )
    }
}
