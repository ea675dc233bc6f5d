// SPDX-License-Identifier: Apache-2.0

import Configuration
import Testing

/// A part that gets built loses its line here and in the reader's table.
@Suite struct `What is not supported yet` {
    @Test(arguments: [
        "dpop: true", "par: auto",
    ])
    func `keys of an identity whose part is not built are refused`(line: String) {
        #expect(reasons(withIdentity(line)) == ["not supported yet"])
    }

    @Test(arguments: [
        "url: redis://localhost",
        "key_prefix: p", "ca_file: /c", "client_certificate_file: /c", "client_key_file: /k",
    ])
    func `keys of the store whose part is not built are refused`(line: String) {
        #expect(reasons("store:\n  \(line)\n" + smallest) == ["not supported yet"])
    }

    @Test(arguments: [
        ("store: {type: keyring}\n" + smallest, "keyring"),
        ("store: {type: redis}\n" + smallest, "redis"),
    ])
    func `values whose part is not built are refused by name`(text: String, value: String) {
        #expect(reasons(text) == ["not supported yet: \(value)"])
    }

    private func reasons(_ text: String) -> [String] {
        let report = report(text)
        #expect(report.configuration == nil)
        return report.problems.map(\.reason)
    }
}
