// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Glibc
import Testing

@Suite struct `A secret` {
    private let secret = Secret("hunter2-hunter2-hunter2")

    @Test func `does not print itself in any way`() {
        var dumped = ""
        dump(secret, to: &dumped)
        let optional: Secret? = secret
        let texts = [
            "\(secret)", String(describing: secret), String(reflecting: secret), dumped,
            String(reflecting: ["key": secret]), String(describing: optional),
        ]
        for text in texts {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("redacted"))
        }
    }

    @Test func `is read only where plaintext is asked for`() {
        #expect(secret.withPlaintext { $0 } == "hunter2-hunter2-hunter2")
        #expect(secret.withPlaintextBytes { $0.count } == 23)
        #expect(Secret("").isEmpty)
    }

    @Test(arguments: [64, 4000])
    func `leaves no byte of itself in memory when its last copy goes`(size: Int) throws {
        // Made here, so that it stands nowhere else; a byte of it never is 0.
        let start = UInt8(37)
        func isOurs(_ byte: UInt8, at index: Int) -> Bool { byte == 1 + (start &+ UInt8(index % 7)) }
        func make() -> Secret { Secret(bytes: (0..<size).map { 1 + (start &+ UInt8($0 % 7)) }) }
        var first: Secret? = make()
        var second = first
        let address = try #require(first).withPlaintextBytes { bytes in
            bytes.withUnsafeBufferPointer { UInt64(UInt(bitPattern: $0.baseAddress)) }
        }
        first = nil
        #expect(
            memory(at: address, size).indices.allSatisfy { isOurs(memory(at: address, size)[$0], at: $0) })
        #expect(second?.isEmpty == false)
        second = nil
        // Whoever has the block after us may have written to it, but would not write this.
        let left = memory(at: address, size).enumerated().count { isOurs($1, at: $0) }
        #expect(left < size / 8)
    }

    /// What stands at an address, read from outside: it may be nobody's by now.
    private func memory(at address: UInt64, _ size: Int) -> [UInt8] {
        let descriptor = open("/proc/self/mem", O_RDONLY)
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, off_t(address)))
        }
    }

    @Test func `can be replaced while it is compared with`() {
        let current = CurrentSecret(Secret("old"))
        #expect(current.matches(Array("old".utf8)))
        let before = ContinuousClock.now
        #expect(current.replace(with: Secret("new"), readAt: .now))
        #expect(!current.matches(Array("old".utf8)) && current.matches(Array("new".utf8)))
        #expect(!current.replace(with: Secret("old"), readAt: before), "its reading was overtaken")
        #expect(current.matches(Array("new".utf8)))
    }

    @Test func `compares with its own bytes only`() {
        #expect(secret.matches(Array("hunter2-hunter2-hunter2".utf8)))
        #expect(!secret.matches(Array("hunter2-hunter2-hunter3".utf8)))
        #expect(!secret.matches([]))
        #expect(Secret("").matches([]))
    }
}
