// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Says something at once, to whoever reads the program's output.
public func say(_ text: String) {
    print(text)
    fflush(nil)
}

/// Runs a program with the words behind its name, which `operands` names; ends it with 64 where they are more or fewer,
/// and with 1 and the reason where it fails.
public func run(_ name: String, _ operands: String..., program: @Sendable ([String]) async throws -> Void) async {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count == operands.count else {
        say("usage: \(([name] + operands).joined(separator: " "))")
        exit(64)
    }
    do {
        try await program(words)
    } catch {
        say("\(name): \(error)")
        exit(1)
    }
}
