// SPDX-License-Identifier: Apache-2.0

/// The facts about a server that `doctor` shows (`INFO`).
package struct RedisExamination: Sendable {
    /// The server's address, product and version.
    package let name: String
    /// The eviction policy (`maxmemory-policy`), if the memory is limited and keys may be thrown away.
    package let eviction: String?

    /// The identifier of the server's run.
    static func run(in information: String) -> String? { value("run_id", in: information) }

    private static func value(_ name: String, in information: String) -> String? {
        information.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }.map { line in
            let value = line.utf8.dropFirst(name.utf8.count + 1)
            return String(decoding: value.filter { 0x20...0x7E ~= $0 }.prefix(64), as: UTF8.self)
        }
    }

    init(place: String, information: String) {
        func value(_ name: String) -> String? { Self.value(name, in: information) }
        name =
            "\(place): "
            + (value("valkey_version").map { "Valkey \($0)" } ?? "Redis \(value("redis_version") ?? "")")
        let isLimited = value("maxmemory").map { $0 != "0" } ?? false
        eviction = isLimited ? value("maxmemory_policy").flatMap { $0 == "noeviction" ? nil : $0 } : nil
    }
}
