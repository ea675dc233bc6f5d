// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What the shells make of the completion scripts.
@Suite(.blocking) struct `Completion` {
    private static func isInstalled(_ shell: String) -> Bool { access("/usr/bin/\(shell)", X_OK) == 0 }

    /// A directory with the program under its name, and a configuration of two identities.
    private func place() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        symlink(BearerdProcess.binary, directory.path("bearerd"))
        try directory.write(
            "config.yaml",
            """
            identities:
              orders: &identity
                {token_endpoint: "http://127.0.0.1:1/token", client_id: a, client_secret: b, grant_type: client_credentials}
              people:
                {token_endpoint: "http://127.0.0.1:1/token", client_id: a, client_secret: b, grant_type: client_credentials}
            routes: [{upstream: "http://127.0.0.1:1", identity: orders}]
            """)
        return directory
    }

    /// What bash offers for words of which the last one is begun.
    private func bash(_ words: [String], in directory: TemporaryDirectory) throws -> [String] {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            cd '\(directory.path)' && PATH=$PWD:$PATH
            source <(bearerd completion bash)
            COMP_WORDS=(bearerd \(list)) COMP_CWORD=\(words.count)
            _bearerd
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try Subprocess.run(["/usr/bin/bash", "--norc", "-euc", script])
        #expect(result.ending == .exited(0) && result.errors.isEmpty, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(
        arguments: [
            (["che"], ["check"]), (["re"], ["reload", "refresh", "revoke", "register"]),
            (["check", "--js"], ["--json"]),
            (["completion", ""], ["bash", "zsh", "fish"]), (["help", "wa"], ["wait"]),
            (["revoke", "--token", ""], ["access", "refresh"]),
            (["revoke", "--token", "=", "re"], ["refresh"]),
            (["revoke", "--token", "="], ["access", "refresh"]), (["token", ""], ["orders", "people"]),
            (["token", "-c", "config.yaml", "pe"], ["people"]),
            (["token", "--config", "=", "config.yaml", "o"], ["orders"]),
            (["token", "-c", "nowhere.yaml", ""], []), (["check", "-c", "conf"], ["config.yaml"]),
            (["login", "--timeout", ""], []), (["nonsense", ""], []), (["check", ""], []),
        ] as [([String], [String])])
    func `of bash`(words: [String], offered: [String]) throws {
        let found = try bash(words, in: place())
        #expect(Set(found) == Set(offered), "\(found)")
    }

    @Test(
        .enabled(if: isInstalled("fish"), "fish is not installed"),
        arguments: [
            ("bearerd che", ["check"]), ("bearerd revoke --token ", ["access", "refresh"]),
            ("bearerd completion ", ["bash", "fish", "zsh"]), ("bearerd token ", ["orders", "people"]),
            ("bearerd check --js", ["--json"]),
        ] as [(String, [String])])
    func `of fish`(line: String, offered: [String]) throws {
        let directory = try place()
        let script =
            "cd \(directory.path); set -x PATH . $PATH; bearerd completion fish | source; complete -C '\(line)'"
        let result = try Subprocess.run(
            ["/usr/bin/env", "HOME=\(directory.path)", "/usr/bin/fish", "--no-config", "-c", script])
        let found = result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(Set(found).intersection(offered).count == offered.count, "\(result)")
        #expect(Set(found).subtracting(offered).allSatisfy { $0.hasPrefix("-") }, "\(result)")
    }

    @Test(.enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func `of zsh`() throws {
        let directory = try place()
        let output = try BearerdProcess.command("completion", "zsh").output
        try directory.write("_bearerd", output)
        // Completion runs at a prompt alone; a terminal of zsh's own has one.
        let script = """
            cd '\(directory.path)'; path=($PWD $path); fpath=($PWD $fpath)
            autoload -Uz compinit && compinit -u -d $PWD/dump
            zmodload zsh/zpty
            zpty inner zsh -f -i
            zpty -w inner "PS1=; cd '\(directory.path)'; path=(\\$PWD \\$path); fpath=(\\$PWD \\$fpath); \
            autoload -Uz compinit && compinit -u -d dump; zstyle ':completion:*' list-colors ''; print prompt-is-here"
            zpty -r -m inner seen '*prompt-is-here*prompt-is-here*' || zpty -r -m inner seen '*prompt-is-here*'
            zpty -w -n inner $'bearerd che\t'
            zpty -r -m inner seen '*bearerd check*' && print completed-the-command
            zpty -w -n inner $'--js\t'
            zpty -r -m inner seen '*--json*' && print completed-the-option
            zpty -d inner
            """
        let result = try Subprocess.run(
            ["/usr/bin/env", "HOME=\(directory.path)", "TERM=dumb", "/usr/bin/zsh", "-f", "-c", script])
        #expect(result.output.contains("completed-the-command"), "\(result)")
        #expect(result.output.contains("completed-the-option"), "\(result)")
    }

    @Test func `is for shells that there are`() throws {
        for words in [["completion"], ["completion", "tcsh"], ["completion", "bash", "zsh"]] {
            #expect(try Subprocess.run([BearerdProcess.binary] + words).ending == .exited(64), "\(words)")
        }
    }
}
