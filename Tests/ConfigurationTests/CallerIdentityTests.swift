// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdRouting
import OAuth
import Testing

/// `routes[].identity` as a map from callers' uids.
@Suite struct `Identities by the caller's user` {
    private static let socket = "unix:/run/b.sock"

    /// The smallest file with these identities by user; no problem in what it says of listeners and peers.
    private func text(
        _ identity: String, listen: String = socket, access: String = "{peer_uids: [0, 1000, 1001]}",
        more: String = ""
    ) -> String {
        "listen: \(listen)\naccess: \(access)\n"
            + smallest.replacing("    identity: default\n", with: "    identity: \(identity)\n\(more)")
    }

    private func problems(_ text: String) -> [String] {
        report(text).problems.map { "\($0.severity) \($0.path): \($0.reason)" }
    }

    @Test func `make a route for each user, in the file's order`() throws {
        let text = text(
            "{uid: {1001: default, 0: none}}", more: "    audience: own\n")
        #expect(problems(text) == [])
        let configuration = try #require(report(text).configuration)
        #expect(configuration.routes.map(\.key.user) == [1001, 0])
        #expect(configuration.routes.map(\.identity) == ["default", nil])
        #expect(configuration.routes.map { $0.target?.audience } == [["own"], nil])
        #expect(configuration.routes.map(\.position) == [0, 0])
        #expect(configuration.distinctRoutes.map(\.key.user) == [1001])
    }

    @Test func `count a route once for each identity`() throws {
        let more = "  - {path: /b, upstream: https://b.example.com, identity: default}\n"
        let text = text("{uid: {1000: default, 1001: default, 0: none}}") + more
        let configuration = try #require(report(text).configuration)
        #expect(configuration.routes.count == 4)
        #expect(configuration.routesByIdentity.map(\.identity) == ["default", nil, "default"])
        #expect(configuration.routesByIdentity.map(\.position) == [0, 0, 1])
    }

    @Test(arguments: [
        ("{uid: {1000: defalut}}", "uid.1000: there is no identity 'defalut'; did you mean 'default'?"),
        ("{uid: {-1: default}}", "uid.-1: '-1' is not a uid: write the number, as `id -u NAME` prints it"),
        (
            "{uid: {alice: none}}",
            "uid.alice: 'alice' is not a uid: write the number, as `id -u NAME` prints it"
        ),
        ("{uid: {+5: none}}", "uid.+5: '+5' is not a uid: write the number, as `id -u NAME` prints it"),
        (
            "{uid: {01000: none}}",
            "uid.01000: '01000' is not a uid: write the number, as `id -u NAME` prints it"
        ),
        ("{uid: {4294967295: none}}", "uid.4294967295: 4294967295 is not in 0...4294967294"),
        (
            "{uid: {99999999999999999999: none}}",
            "uid.99999999999999999999: 99999999999999999999 is not in 0...4294967294"
        ),
        ("{uid: {1000: default, 1000: none}}", "uid.1000: the key is there already, on line 10"),
        ("{uid: {}}", "uid: names nobody, so that everybody gets 403; name one user at least"),
        ("{uid: [1000]}", "uid: expected a map, found a list"),
        ("{uids: {1000: none}}", "uids: unknown key; did you mean 'uid'?"),
    ])
    func `are judged one by one`(identity: String, problem: String) {
        #expect(problems(text(identity)) == ["error routes[0].identity.\(problem)"])
    }

    @Test func `need the map`() {
        #expect(
            problems(text("{}")) == [
                "error routes[0].identity.uid: is missing: a map from uids to identities, as in {uid: {1000: alice}}"
            ])
    }

    @Test func `need Unix sockets alone`() {
        let map = "{uid: {1000: default}}"
        let both = "['127.0.0.1:1', '\(Self.socket)']"
        let known =
            "error routes[0].identity: a caller's uid is known on Unix sockets alone, not on 127.0.0.1:1: "
        #expect(
            problems(text(map, listen: "127.0.0.1:1"))
                == [
                    "warning access.peer_uids: keeps nobody out: it counts on Unix sockets alone, and listen has none; "
                        + "access.key does on TCP",
                    known + "add a unix: listener to listen, and name it in the route's listen",
                ])
        #expect(problems(text(map, listen: both)) == [known + "give the route listen: \(Self.socket)"])
        #expect(
            problems(text(map, listen: both, more: "    listen: 127.0.0.1:1\n"))
                == [known + "give the route listen: \(Self.socket)"])
        #expect(problems(text(map, listen: both, more: "    listen: \(Self.socket)\n")) == [])
        #expect(problems(text(map, listen: "systemd:data")) == [], "the start tells")
    }

    @Test func `are warned of where access peer_uids comes first`() {
        let map = "{uid: {0: default, 3999999: default}}"
        let place = "warning routes[0].identity.uid.3999999: "
        #expect(
            problems(text(map, access: "{peer_uids: [0]}"))
                == [place + "access.peer_uids refuses this user first: list 3999999 there too"])
        #expect(
            problems(text(map, access: "{}")) == [
                place
                    + "without access.peer_uids only the daemon's own user and root may connect: list 3999999 there"
            ])
        #expect(problems(text(map, access: "{peer_uids: [x]}")).count == 1, "nothing follows from an error")
    }

    @Test func `do not let two routes select the same requests`() {
        let more = "  - {upstream: https://b.example.com, identity: none}\n"
        #expect(
            problems(text("{uid: {1000: default, 1001: none}}") + more)
                == ["error routes[1]: selects the same requests as routes[0] on line 9"])
    }
}
