// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import bearerd

@Suite struct `What logout is told` {
    @Test(arguments: [
        ["--post-logout-redirect-uri", "https://app.example.com/bye?x=y", "--state", "a b"],
        ["--post-logout-redirect-uri=com.example.app:/bye", "--no-browser"], ["--state=ü"], ["--local"],
    ])
    func `may be a place to go to, and a state that comes back there`(words: [String]) throws {
        #expect(throws: Never.self) { try parse(words) }
    }

    @Test(arguments: [
        (["--post-logout-redirect-uri", "/bye"], "--post-logout-redirect-uri is an absolute URI"),
        (["--post-logout-redirect-uri="], "--post-logout-redirect-uri is an absolute URI"),
        (["--post-logout-redirect-uri=https://app.example.com/#bye"], "without a fragment"),
        (["--post-logout-redirect-uri=https://app.example.com/a b"], "as registered at the provider"),
        (["--state", ""], "leave it out for one that is drawn anew"),
        (["--state", "a\nb"], "--state is text without control characters"),
        (["--local", "--state", "s"], "leave out --post-logout-redirect-uri and --state"),
        (["--local", "--post-logout-redirect-uri", "app:/bye"], "--local asks the provider nothing"),
    ])
    func `is refused with what to do where it makes no sense`(words: [String], hint: String) {
        let failure = #expect(throws: CommandFailure.self) { try parse(words) }
        #expect(failure?.status == .usage)
        #expect(failure?.message.contains(hint) == true, "\(failure?.message ?? "")")
    }

    private func parse(_ words: [String]) throws {
        let catalog = CommandCatalog([LogoutCommand.self])
        _ = try LogoutCommand(
            ParsedArguments(
                words + ["-c", "unread.yaml"], options: LogoutCommand.options + [.config],
                operand: "IDENTITY",
                catalog: catalog))
    }
}
