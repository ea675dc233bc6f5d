// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import OAuth
import Testing

@Suite struct `Paths of the admin listener` {
    @Test(
        arguments: [
            .health, .readiness, .metrics, .status, .page, .quit, .reload, .callback, .login(identity: "a b"),
            .refresh(identity: "default"), .invalidate(identity: "ä/ö"), .userinfo(identity: "%2f"),
            .revoke(identity: "a", nil), .revoke(identity: "a", .accessToken),
            .logout(identity: "a", onlyHere: false),
            .logout(identity: "a", onlyHere: true),
            .register(identity: "a"), .session(identity: "a?b#c"),
        ] as [AdminResource])
    func `name what is asked for there`(resource: AdminResource) {
        #expect(AdminResource(path: resource.path) == resource)
    }

    @Test func `are those of the contract`() {
        #expect(AdminResource.refresh(identity: "two words").path == "/api/identities/two%20words/refresh")
        #expect(
            AdminResource.revoke(identity: "a", .refreshToken).path
                == "/api/identities/a/revoke/refresh_token")
        #expect(
            AdminResource.logout(identity: "a", onlyHere: true).path == "/api/identities/a/logout/local")
        #expect(AdminResource.readiness.path == "/readyz" && AdminResource.status.path == "/api/status")
    }

    @Test(
        arguments: [
            "", "/nothing", "/healthz/", "//", "/api", "/api/", "/api/identities", "/api/identities/a",
            "/api/identities/a/dance", "/api/identities/%zz/refresh",
            "/api/identities/a/refresh/refresh_token",
            "/api/identities/a/revoke/id_token", "/api/identities/a/revoke/local",
            "/api/identities/a/logout/here", "/login", "/login/", "/callback/x", "/api/status/x",
        ])
    func `name nothing else`(path: String) {
        #expect(AdminResource(path: path) == nil)
    }
}
