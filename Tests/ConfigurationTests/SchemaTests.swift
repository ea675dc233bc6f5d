// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import BearerdTestSupport
import Testing

@testable import BearerdConfiguration

/// `bearerd schema`, held against the reader and against docs/configuration.md.
struct `The schema of the configuration` {
    /// Made once: the reader runs over some hundred documents for it.
    private static let made = ConfigurationSchema.json(version: "1.2.3")
    private let schema = made

    @Test func `knows a form for every key that the reader takes`() {
        // What a route's time-outs have in common with the file's own is not all a route's.
        let refused = ["header", "idle", "half_closed", "token", "token_wait"].map {
            "routes[0].timeouts.\($0)"
        }
        let record = ConfigurationSchema.exploredKeys()
        let formless = record.sections.flatMap { section, keys in
            keys.spellings.map { KeyRecord.key($0, in: section) }.filter { record.forms[$0] == nil }
        }
        #expect(formless == refused)
    }

    @Test func `knows the reader's keys, each where it belongs`() {
        #expect(names(at: []) == RootKey.spellings)
        #expect(names(at: ["identities", "*"]) == IdentityKey.spellings)
        #expect(names(at: ["routes", "[]"]) == RouteConfiguration.Key.spellings)
        #expect(names(at: ["routes", "[]", "allow", "[]"]) == RequestRuleKey.spellings)
        #expect(names(at: ["store"]) == StoreConfiguration.Key.spellings)
        #expect(names(at: ["access", "keys", "[]"]) == ["key", "key_file", "key_credential"])
        #expect(names(at: ["tls", "client_allow"]) == ["dns", "uri"])
        #expect(schema["title"] == "The configuration of bearerd 1.2.3")
    }

    @Test func `takes a file with every key`() {
        #expect(Judge(schema).objections(to: document(everyKey), by: schema) == [])
        #expect(Judge(schema).objections(to: document(smallest), by: schema) == [])
    }

    @Test(arguments: [
        ("lisen: 127.0.0.1:1", "lisen"), ("workers: many", "workers"), ("workers: 0", "workers"),
        ("unsafe_listen: 1", "unsafe_listen"), ("timeouts: {header: 10}", "timeouts.header"),
        ("timeouts: {header: 10 s}", "timeouts.header"), ("limits: {uri_bytes: 1KB}", "limits.uri_bytes"),
        ("log: {level: loud}", "log.level"), ("access: {keys: [a]}", "access.keys.0"),
        ("identities: {a: {grant_type: magic}}", "identities.a.grant_type"),
        ("identities: {a: {dpop: maybe}}", "identities.a.dpop"), ("routes: [{pth: /}]", "routes.0.pth"),
        ("routes: [{retry_on_status: [200]}]", "routes.0.retry_on_status.0"),
        ("store: {type: disk}", "store.type"),
        ("tls: {client_allow: {cn: [a]}}", "tls.client_allow.cn"),
        ("telemetry: {sample: '0.5'}", "telemetry.sample"), ("telemetry: {sample: 1e1}", "telemetry.sample"),
        ("workers: -0o4", "workers"), ("workers: '4'", "workers"), ("workers: !!str 4", "workers"),
    ])
    func `objects to what the reader refuses`(text: String, place: String) {
        #expect(!report(text).problems.isEmpty)
        #expect(Judge(schema).objections(to: document(text), by: schema) == [place])
    }

    @Test(arguments: [
        "workers: ${WORKERS}", "unsafe_listen: ${FLAG}", "timeouts: {header: '${TIME}'}",
        "log: {level: '${LEVEL}'}",
        "timeouts: {header: 0}", "limits: {uri_bytes: 4096}", "access:", "identities: {a: {client_id: 42}}",
        "routes: [{identity: {uid: {1000: a}}}]", "routes: [{identity: a}]", "on_state_change: [a, '']",
        "identities: {a: {grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', scope: a b}}",
        "identities: {a: {registration_params: {x: [1, {y: true}]}}}",
    ])
    func `takes what the reader takes`(text: String) {
        #expect(Judge(schema).objections(to: document(text), by: schema) == [])
    }

    @Test(arguments: [
        ("telemetry: {sample: 1e-2}", "telemetry.sample"), ("telemetry: {sample: .5}", "telemetry.sample"),
        ("telemetry: {sample: 1}", "telemetry.sample"), ("workers: 0o10", "workers"),
        ("workers: !!int \"4\"", "workers"), ("limits: {uri_bytes: 0x1000}", "limits.uri_bytes"),
        ("limits: {uri_bytes: !!int \"4096\"}", "limits.uri_bytes"),
        ("unsafe_listen: !!bool \"true\"", "unsafe_listen"),
    ])
    func `takes numbers and truths as YAML 1_2 types them, as the reader does`(text: String, place: String) {
        #expect(Judge(schema).objections(to: document(text), by: schema) == [])
        let problems = report(text).problems.map { "\($0)" }
        #expect(!problems.contains { $0.contains(place) }, "\(problems)")
    }

    // MARK: The page

    @Test func `has no key that the page lacks`() throws {
        let page = try Self.page()
        for name in allNames(of: schema) {
            let spellings = [
                "`\(name)`", ".\(name)`", "`\(name)[]", "`\(name).", "{\(name): ", ", \(name): ",
            ]
            if !spellings.contains(where: page.contains) {
                Issue.record("docs/configuration.md says nothing of `\(name)`")
            }
        }
    }

    @Test func `has every key that a table of the page lists`() throws {
        var section = [String]()
        var isKeyTable = false
        var found = 0
        for line in try Self.page().split(separator: "\n") {
            if line.hasPrefix("## ") {
                let title = line.split(separator: "`")
                section = title.count == 2 && line.hasSuffix("`") ? Self.path(String(title[1])) : []
            }
            guard line.hasPrefix("|") else {
                isKeyTable = false
                continue
            }
            let cell = line.split(separator: "|", omittingEmptySubsequences: false)[1]
            if cell.contains(" key ") { isKeyTable = true }
            guard isKeyTable, cell.contains("`") else { continue }
            for (index, word) in cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            where index % 2 == 1 {
                let parts = word.split(separator: ".").map(String.init)
                #expect(
                    names(at: section + parts.dropLast()).contains(parts.last ?? ""),
                    "no key \(word) in \(section.joined(separator: "."))")
                found += 1
            }
        }
        #expect(found > 120)
    }

    private static func page() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let bytes = BearerdTestSupport.TemporaryDirectory.contents(of: "\(root)/docs/configuration.md")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `identities.NAME` is a map of sections, `routes[]` a list of them.
    private static func path(_ title: String) -> [String] {
        title.replacing("[]", with: ".[]").split(separator: ".").map { $0 == "NAME" ? "*" : String($0) }
    }

    // MARK: Looking it up

    /// The keys of the section at a path; `*` is any member of a map, `[]` any item of a list.
    private func names(at path: [String]) -> [String] {
        var place = schema
        for step in path {
            let next =
                switch step {
                case "*": place["additionalProperties"]
                case "[]": place["items"]
                default: place["properties"]?[step]
                }
            place = next ?? .null
        }
        return place["properties"]?.object?.names ?? []
    }

    private func allNames(of schema: JSONValue) -> Set<String> {
        var names: Set<String> = []
        for (name, inner) in schema["properties"]?.object ?? [:] {
            // A secret's other forms are told once for all of them.
            if !name.hasSuffix("_credential"), !isFile(name, beside: schema) { names.insert(name) }
            names.formUnion(allNames(of: inner))
        }
        for inner in [schema["items"], schema["additionalProperties"]].compactMap(\.self)
            + (schema["anyOf"]?.array ?? [])
        {
            names.formUnion(allNames(of: inner))
        }
        return names
    }

    private func isFile(_ name: String, beside schema: JSONValue) -> Bool {
        name.hasSuffix("_file") && schema["properties"]?["\(name.dropLast(5))_credential"] != nil
    }
}
