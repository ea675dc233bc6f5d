// SPDX-License-Identifier: Apache-2.0

import BearerdProxy
import Glibc
import OAuth
import Testing

/// docs/troubleshooting.md, held against the sources.
@Suite struct `The page on troubleshooting` {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

    private static func text(_ path: String) throws -> String {
        let file = try #require(fopen("\(root)/\(path)", "r"), "\(path)")
        defer { fclose(file) }
        var text: [UInt8] = []
        while case let byte = getc(file), byte != EOF { text.append(UInt8(byte)) }
        return String(decoding: text, as: UTF8.self)
    }

    private func page() throws -> String { try Self.text("docs/troubleshooting.md") }

    @Test(arguments: RejectionCode.allCases)
    func `has a section for each code of an answer on the data port, with its status`(
        code: RejectionCode
    ) throws {
        #expect(try page().contains("\n### `\(code.rawValue)`\n\(code.status)"))
    }

    @Test func `has a section for each code of an answer on the admin listener`() throws {
        let source = try Self.text("Sources/AdminAPI/ProblemCode.swift")
        let codes = Set(
            source.matches(of: #/ProblemCode\(rawValue: "([a-z_]+)"/#).map { String($0.output.1) })
        #expect(codes.count > 8, "the spelling in the sources has changed: \(codes)")
        for code in codes { #expect(try page().contains("\n### `\(code)`\n"), "\(code)") }
    }

    @Test(arguments: SessionState.allCases)
    func `has a section for each state`(state: SessionState) throws {
        #expect(try page().contains("\n### State `\(state.rawValue)`\n"))
    }

    /// The page, that on operations, the log, the status page and the commands say it in the same words.
    @Test func `agrees with everything else on what a refused reload means, and what only a restart brings`()
        throws
    {
        let sources = [
            "Sources/Admin/ReloadRefusal.swift", "Sources/Admin/Page/StatusPage.swift",
            "Sources/bearerd/Commands/StatusReport.swift", "Sources/bearerd/Commands/ReloadCommand.swift",
            "Sources/bearerd/Doctor/Checks/DaemonCheck.swift", "docs/troubleshooting.md",
            "docs/operations.md",
        ]
        for source in sources {
            #expect(try Self.text(source).contains("old configuration is in force"), "\(source)")
        }
        let fixed = try Self.text("Sources/bearerd/Composition/Reload/PreparedFiles.swift")
        let named = Set(
            fixed.matches(of: #/keys(?:\.append\(|: \[|[^\n]* \{ )"([a-z_.]+)/#).map { String($0.output.1) })
        #expect(
            named.isSuperset(of: ["workers", "store", "admin.listen", "audit.file", "listen"]), "\(named)")
        let keys = named.map { $0.hasPrefix("development") ? "development" : $0 }.filter {
            $0 != "identities."
        }
        let pages = [
            try #require(try page().components(after: "### `restart_needed`")).prefix(1200),
            try #require(
                try Self.text("docs/operations.md").components(after: "Some things only a restart brings")
            ).prefix(1200),
        ]
        for key in keys + ["command", "on_state_change"] {
            for page in pages { #expect(page.contains("`\(key)`"), "\(key)") }
        }
    }

    @Test func `has a row for each code of a provider's failure`() throws {
        let rows = try #require(try page().components(after: "## Codes of a provider's failure"))
        let source = try Self.text("Sources/OAuth/Errors/TokenFailure+code.swift")
        let codes = source.matches(of: #/case [^:\n]*: "([a-z_]+)"\n/#).map { $0.output.1 }
        #expect(codes.count > 25, "the spelling in the sources has changed: \(codes)")
        for code in codes { #expect(rows.contains("`\(code)`"), "\(code)") }
    }
}

extension String {
    /// What follows after the first occurrence of `mark`.
    fileprivate func components(after mark: String) -> Substring? {
        firstRange(of: mark).map { self[$0.upperBound...] }
    }
}
