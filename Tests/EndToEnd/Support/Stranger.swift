// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// Another user of this machine, `nobody`, as whom a test that runs as root can act.
enum Stranger {
    static let user: UInt32 = 65534

    /// The command prefix that runs a program as that user; nil if that is impossible, or the user cannot
    /// read the binary.
    static let launcher: [String]? = {
        let words = ["/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups"]
        let trial = try? Subprocess.run(words + [BearerdProcess.binary, "--version"])
        return trial?.ending == .exited(0) ? words : nil
    }()

    /// Sends a text over a connection of its own, and reads until the end.
    static func send(_ text: String, to address: Address) throws -> String {
        guard case .tcp = address else { throw WireError("a stranger speaks TCP") }
        let octal = text.utf8.map { "\\" + String($0, radix: 8) }.joined()
        let script = """
            exec 3<>/dev/tcp/127.0.0.1/\(address.port) && printf '\(octal)' >&3 && cat <&3
            """
        return try Subprocess.run(
            [
                "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/bash",
                "-c", script,
            ]
        ).output
    }

    /// Sends a text over a Unix socket as any user, from a process with the given name.
    static func send(
        _ text: String, toSocket path: String, as user: UInt32, calling name: String = "perl"
    ) throws -> String {
        let script = """
            $0 = $ARGV[2]; my $peer = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$!"; print $peer $ARGV[1];
            $peer->flush; local $/; print <$peer>;
            """
        let result = try Subprocess.run([
            "/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "65534", "--clear-groups", "/usr/bin/perl",
            "-MIO::Socket::UNIX", "-e", script, path, text, name,
        ])
        guard result.ending == .exited(0) else { throw WireError("user \(user): \(result.errors)") }
        return result.output
    }

    /// Fetches a URL as that user.
    static func fetch(_ url: String) throws -> String {
        let rest = url.dropFirst("http://".count)
        let authority = String(rest.prefix { $0 != "/" })
        guard let address = Address(authority) else { throw WireError("no address in \(url)") }
        let path = rest.dropFirst(authority.count)
        return try send(
            "GET \(path) HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n", to: address)
    }
}
