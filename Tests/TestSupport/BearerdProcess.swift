// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A process of the built binary.
package final class BearerdProcess: Sendable {
    /// A kind of listener, spelled as in bearerd's log.
    package enum Listener: String, Sendable {
        case proxy
        case admin
        case developmentProvider = "development_provider"
        case developmentAPI = "development_api"
    }

    /// The running program.
    package let process: Subprocess
    private let addresses = Monitor<[String: Address]>([:])

    /// Starts `bearerd run` with a configuration in `directory`, and waits until it listens.
    ///
    /// Listeners should have port 0 in the configuration; ``address(of:_:)`` returns their addresses.
    ///
    /// - Parameters:
    ///   - launcher: a program with arguments that executes the command line in its place, such as `setpriv`.
    ///   - passed: descriptors that it gets as 3, 4 and so on.
    package convenience init(
        configuration: String, in directory: TemporaryDirectory, environment: [String: String] = [:],
        launcher: [String] = [], passing passed: [Int32] = []
    ) throws {
        let file = try directory.write("config.yaml", configuration)
        try self.init(
            arguments: ["run", "-c", file], environment: environment, launcher: launcher, passing: passed)
    }

    /// Starts the binary with these arguments and waits until it listens.
    package init(
        arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        launcher: [String] = [], passing passed: [Int32] = []
    ) throws {
        process = try Subprocess(
            launcher + [BearerdProcess.binary] + arguments, environment: environment, directory: directory,
            passing: passed)
        _ = try address(of: .proxy)
    }

    /// The binary beside the test bundle, or `BEARERD_BINARY`.
    package static let binary: String = {
        if let given = getenv("BEARERD_BINARY") { return String(cString: given) }
        let maps = String(decoding: TemporaryDirectory.contents(of: "/proc/self/maps"), as: UTF8.self)
        guard let line = maps.split(separator: "\n").first(where: { $0.hasSuffix(".xctest") }),
            let start = line.firstIndex(of: "/"), let slash = line.lastIndex(of: "/")
        else { return "bearerd" }
        return line[start..<slash] + "/bearerd"
    }()

    /// Runs a command of the binary to its end.
    package static func command(
        _ arguments: String..., environment: [String: String] = [:], directory: String? = nil
    ) throws -> (exit: Int32, output: String, errors: String) {
        try command(arguments, environment: environment, directory: directory)
    }

    package static func command(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil
    ) throws -> (exit: Int32, output: String, errors: String) {
        let result = try Subprocess.run(
            [binary] + arguments, environment: environment, directory: directory)
        guard case .exited(let code) = result.ending else {
            throw WireError("bearerd \(arguments) ended by \(result.ending): \(result.errors)")
        }
        return (code, result.output, result.errors)
    }

    // MARK: Where it listens

    /// The address of the `index`-th listener of a kind, in the order of the log.
    package func address(of listener: Listener, _ index: Int = 0) throws -> Address {
        let key = "\(listener.rawValue) \(index)"
        if let known = addresses.withLock({ $0[key] }) { return known }
        let found: Result<Address, WireError> = try process.errors.wait(for: "\(listener) to listen") {
            capture in
            let bound = BearerdProcess.lines(of: capture).filter { line in
                line.message == "listening" && line["listener"] == listener.rawValue
            }
            if bound.count > index, let address = bound[index]["address"].flatMap(Address.init) {
                return .success(address)
            }
            return capture.isAtEnd ? .failure(WireError("bearerd ended: \(capture.text)")) : nil
        }
        let address = try found.get()
        addresses.withLock { $0[key] = address }
        return address
    }

    /// The data listener.
    package var proxy: Address { get throws { try address(of: .proxy) } }

    /// The admin listener.
    package var admin: Address { get throws { try address(of: .admin) } }

    // MARK: Its log

    /// A line of the log.
    package struct LogLine: Sendable {
        /// The parsed line.
        package let json: TestJSON

        /// The message.
        package var message: String { self["message"] ?? self["msg"] ?? "" }

        /// A field as text.
        package subscript(field: String) -> String? {
            switch json[field] {
            case .string(let text): text
            case .number(let number): number == number.rounded() ? "\(Int(number))" : "\(number)"
            case .bool(let value): "\(value)"
            case .null, .array, .object: nil
            }
        }
    }

    /// Everything on its standard error so far.
    package var log: String { process.errors.withLock { $0.text } }

    /// The lines of the log so far.
    package var logLines: [LogLine] { process.errors.withLock { BearerdProcess.lines(of: $0) } }

    /// Waits for a line of the log.
    @discardableResult
    package func logLine(
        _ awaited: String, within limit: Duration = patience, where matches: (LogLine) -> Bool
    ) throws -> LogLine {
        try process.errors.wait(for: awaited, within: limit) { capture in
            BearerdProcess.lines(of: capture).first(where: matches)
        }
    }

    private static func lines(of capture: Subprocess.Capture) -> [LogLine] {
        capture.text.split(separator: "\n").compactMap { TestJSON(parsing: $0).map(LogLine.init) }
    }

    // MARK: Its life

    /// Sends SIGTERM and waits for the end.
    package func terminate(within limit: Duration = patience) throws -> Subprocess.Termination {
        process.signal(SIGTERM)
        return try process.waitForEnd(within: limit)
    }

    /// Kills it at once and waits until it is gone.
    package func kill() throws {
        process.signal(SIGKILL)
        _ = try process.waitForEnd()
    }

    /// Its resident memory in bytes (`VmRSS` of proc(5)).
    package var residentBytes: Int { bytes(of: "VmRSS:") }

    /// Its anonymous memory in bytes (`RssAnon`), without mapped files, which the kernel loads and drops as
    /// it likes.
    package var anonymousBytes: Int { bytes(of: "RssAnon:") }

    /// The peak of its resident memory in bytes (`VmHWM`).
    package var peakResidentBytes: Int { bytes(of: "VmHWM:") }

    private func bytes(of key: String) -> Int {
        let status = String(
            decoding: TemporaryDirectory.contents(of: "/proc/\(process.processID)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix(key) }
        return (line?.split(separator: " ").dropFirst().compactMap { Int($0) }.first ?? 0) * 1024
    }

    /// The number of its open descriptors.
    package var descriptorCount: Int { TemporaryDirectory.entries(of: "/proc/\(process.processID)/fd").count }

    /// The number of its threads.
    package var threadCount: Int { TemporaryDirectory.entries(of: "/proc/\(process.processID)/task").count }
}
