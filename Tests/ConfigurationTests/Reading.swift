// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import Glibc

/// The smallest file that is right; `listen` and more go in front.
let smallest = """
    identities:
      default:
        issuer: https://sso.example.com
        client_id: app
        grant_type: authorization_code
    routes:
      - upstream: https://api.example.com
        identity: default

    """

func report(_ text: String, environment: [String: String] = [:]) -> ConfigurationReport {
    ConfigurationReport(Array(text.utf8), file: "c.yaml", environment: { environment[$0] })
}

/// The smallest file with these lines inside its identity.
func withIdentity(_ lines: String...) -> String {
    smallest.replacing(
        "    grant_type: authorization_code\n", with: "    grant_type: authorization_code\n" + indented(lines)
    )
}

/// The smallest file with these lines inside its route.
func withRoute(_ lines: String...) -> String {
    smallest + indented(lines)
}

private func indented(_ lines: [String]) -> String {
    lines.flatMap { $0.split(separator: "\n") }.map { "    \($0)\n" }.joined()
}

extension Secret {
    /// The text, for comparing in tests.
    var plaintext: String { withPlaintext { $0 } }
}

/// A directory that goes away with its owner.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/bearerd-configuration-XXXXXX\0".utf8CString)
        guard let path = mkdtemp(&template) else { throw Failure(code: errno) }
        self.path = String(cString: path)
    }

    struct Failure: Error {
        let code: CInt
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    private var names: [String] = []

    /// Makes a file and returns its path.
    func file(_ name: String, _ text: String, mode: mode_t = 0o600) throws -> String {
        let file = "\(path)/\(name)"
        names.append(name)
        guard let stream = fopen(file, "w") else { throw Failure(code: errno) }
        fputs(text, stream)
        fclose(stream)
        guard chmod(file, mode) == 0 else { throw Failure(code: errno) }
        return file
    }
}
