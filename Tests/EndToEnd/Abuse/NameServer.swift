// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// A name server that says of every name that it is one address of 127.0.0.0/24, or nothing at all.
///
/// A program started with its ``launcher`` asks it and nobody else.
final class NameServer: Sendable {
    /// Closed when nobody answers on it any more: the number would soon be another's.
    private final class Socket: Sendable {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)

        deinit { close(descriptor) }
    }

    private let socket = Socket()
    private let directory: TemporaryDirectory
    private let questions = Monitor(0)
    private let gate: Gate
    /// The last byte of the address that every name has.
    private let address = Monitor<UInt8>(1)

    /// True if this machine lets a test have a name server.
    fileprivate static let isPossible: Bool = {
        guard (try? NameServer(answeringWhen: Gate())) != nil else { return false }
        let result = try? Subprocess.run(["/usr/bin/unshare", "--mount", "/bin/true"])
        return result?.ending == .exited(0)
    }()

    /// - Parameter gate: nothing is answered before it opens.
    init(answeringWhen gate: Gate) throws {
        self.gate = gate
        // Names are asked for at port 53 alone: so it needs an address of its own, and the right to bind it.
        let last = (0..<3).map { _ in UInt32.random(in: 1...254) }
        directory = try TemporaryDirectory()
        try directory.write(
            "resolv.conf", "nameserver 127.\(last[0]).\(last[1]).\(last[2])\noptions timeout:20 attempts:1\n",
            mode: 0o644)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(53).bigEndian
        address.sin_addr.s_addr = (127 << 24 | last[0] << 16 | last[1] << 8 | last[2]).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw WireError("port 53 cannot be bound") }
        startThread { [socket, gate, questions, address = self.address] in
            NameServer.serve(socket, gate, questions, address)
        }
    }

    deinit {
        gate.open()
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }

    /// The command prefix with which a program uses this name server.
    var launcher: [String] {
        [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
            "mount --bind \(directory.path("resolv.conf")) /etc/resolv.conf && exec \"$@\"", "sh",
        ]
    }

    /// How often it was asked.
    var questionCount: Int { questions.withLock { $0 } }

    /// Says from now on that every name is 127.0.0.`host`.
    func answer(with host: UInt8) { address.withLock { $0 = host } }

    /// Waits until it was asked so often.
    func awaitQuestions(_ count: Int) throws {
        try questions.wait(for: "\(count) questions") { $0 >= count ? () : nil }
    }

    private static func serve(
        _ socket: Socket, _ gate: Gate, _ questions: Monitor<Int>, _ host: Monitor<UInt8>
    ) {
        while true {
            var bytes = [UInt8](repeating: 0, count: 1024)
            var peer = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &peer) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(socket.descriptor, &bytes, bytes.count, 0, $0, &size)
                }
            }
            guard count > 12 else { return }
            questions.withLock { $0 += 1 }
            let question = Array(bytes[..<count])
            startThread { [peer] in
                guard (try? gate.pass(within: .seconds(60))) != nil else { return }
                let answer = NameServer.answer(to: question, with: host.withLock { $0 })
                var peer = peer
                withUnsafePointer(to: &peer) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = sendto(
                            socket.descriptor, answer, answer.count, Int32(MSG_NOSIGNAL), $0,
                            socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }
        }
    }

    /// One A record, or none where another kind was asked for (RFC 1035 section 4.1).
    private static func answer(to question: [UInt8], with host: UInt8) -> [UInt8] {
        let end = (question[12...].firstIndex(of: 0) ?? 12) + 5
        let isA = question[end - 4] == 0 && question[end - 3] == 1
        var answer = Array(question[..<2]) + [0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]
        answer += question[12..<end]
        if isA { answer += [0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, host] }
        return answer
    }
}

extension Needs {
    /// A name server of the test's own.
    static let nameServer = Needs(orElse: "only root has port 53, and mounts over resolv.conf") {
        NameServer.isPossible
    }
}
