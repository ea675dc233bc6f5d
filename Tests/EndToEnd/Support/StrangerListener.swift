// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A listener of `nobody` at the address where a daemon was expected; needs root.
struct StrangerListener {
    /// The address in the form of `admin.listen`.
    let address: String
    private let process: Subprocess

    /// Binds as root, so that the socket may be in any directory, and listens as `nobody`.
    private static let script = """
        use Socket qw(:all); use POSIX; $| = 1; alarm 120;
        my ($place, $accepts) = @ARGV;
        my $name = $place =~ m{^/} ? pack_sockaddr_un($place)
            : $place =~ /:/ ? pack_sockaddr_in6(0, inet_pton(AF_INET6, $place)) : pack_sockaddr_in(0, inet_aton($place));
        my $family = sockaddr_family($name);
        socket(my $listener, $family, SOCK_STREAM, 0) or die $!;
        bind($listener, $name) or die $!;
        POSIX::setgid(65534); POSIX::setuid(65534);
        listen($listener, 16) or die $!;
        my $own = getsockname($listener);
        print $family == AF_INET ? (unpack_sockaddr_in($own))[0]
            : $family == AF_INET6 ? (unpack_sockaddr_in6($own))[0] : 0, "\\n";
        sleep 120 unless $accepts;
        while (accept(my $client, $listener)) {
            my $heard = ''; sysread($client, $heard, 65536); print "<$heard>\\n";
            syswrite($client, "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}") if $heard ne '';
            close $client;
        }
        """

    /// - Parameter name: the spelling of the address in the configuration; nil for the same.
    init(at place: String, named name: String? = nil, accepting: Bool = true) throws {
        process = try Subprocess(["/usr/bin/perl", "-e", Self.script, place, accepting ? "1" : "0"])
        let port = try process.output.wait(for: "a stranger to listen") { capture in
            capture.text.contains("\n") ? String(capture.text.prefix { $0 != "\n" }) : nil
        }
        let host = name ?? (place.contains(":") ? "[\(place)]" : place)
        address = place.hasPrefix("/") ? "unix:\(place)" : "\(host):\(port)"
    }

    /// Everything that it received, each connection's bytes in angle brackets.
    var heard: String { process.output.withLock { $0.text } }

    /// Waits until `count` connections have ended.
    func hear(_ count: Int) throws -> String {
        try process.output.wait(for: "\(count) connections") { capture in
            capture.text.matches(of: />\n/).count >= count ? capture.text : nil
        }
    }
}
