// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// `proxy-environment`: no proxy is set in the environment that bearerd does not use.
enum ProxyEnvironmentCheck: WholeCheck {
    static let id = CheckID.proxyEnvironment

    private static let names = [
        "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    ]

    static func look(at subject: DoctorSubject) -> Finding {
        let found = names.filter { !(CurrentProcess.environment($0) ?? "").isEmpty }
        guard !found.isEmpty else { return .ok("no proxy is set in the environment") }
        let configuration = subject.configuration
        let isUsed = (configuration.identities.map(\.transport) + configuration.routes.map(\.transport))
            .contains {
                if case .environment = $0.proxy { true } else { false }
            }
        let seen = "\(found.joined(separator: ", ")) in the environment"
        return isUsed
            ? .ok("\(seen), and used")
            : .warn("\(seen), used by nothing", fix: "identities.NAME.proxy: environment")
    }
}
