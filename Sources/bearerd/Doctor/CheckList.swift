// SPDX-License-Identifier: Apache-2.0

/// All checks, each after those that it needs.
enum CheckList {
    static var all: [any DoctorCheck.Type] {
        [
            ModesCheck.self, StoreCheck.self, KeyringCheck.self, NameCheck.self,
            TLSCheck.self, ClockCheck.self,
            DiscoveryCheck.self, KeySetCheck.self, ClientAuthenticationCheck.self, TokenCheck.self,
            RefreshTokenCheck.self, RedirectURICheck.self, PushedRequestCheck.self, UpstreamCheck.self,
            ProxyEnvironmentCheck.self, DescriptorsCheck.self, SandboxCheck.self, SystemdCheck.self,
            AdminCheck.self, ListenCheck.self,
        ]
    }
}
