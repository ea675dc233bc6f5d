// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// A process that starts programs for this one, outside of the sandbox that this one locks itself into later.
///
/// It ends with this process, and so do the programs and all of their process groups.
package final class CommandHelper: Sendable {
    /// The longest list of arguments, in bytes.
    package static let longestCommand = Int(BEARERD_COMMAND_WORDS)
    /// The longest standard output that is taken, in bytes.
    package static let longestOutput = Int(BEARERD_COMMAND_OUTPUT)
    /// How much longer than a program's own limit its end may take.
    private static let grace = Duration.milliseconds(Int(BEARERD_COMMAND_LAST)) + .seconds(5)

    private let requests: Descriptor
    private let left = LeftPrograms()

    /// The way in which a program ended.
    package enum Outcome: Equatable, Sendable {
        case exited(Int32)
        /// A signal ended it; the value is its number.
        case signalled(Int32)
        /// We killed it because it took too long.
        case timedOut
        /// We killed it because it printed more than ``longestOutput``.
        case tooMuchOutput
        /// It took too long, or printed too much, and could not be killed.
        case left
        /// It could not be started; the value is `errno`.
        case notStarted(Int32)
    }

    /// The output of a program, and the way in which it ended.
    package struct Result: Sendable {
        package let outcome: Outcome
        package let output: [UInt8]
        /// The beginning of what it wrote to standard error.
        package let error: [UInt8]
    }

    /// Starts the process; call it before there are threads.
    ///
    /// - Throws: ``SystemError``.
    package init() throws(SystemError) {
        var number: CInt = -1
        let failure = bearerd_command_helper(&number)
        guard failure == 0 else { throw SystemError(.spawn, path: "the command helper", code: failure) }
        requests = Descriptor(number: number, path: "the command helper")
    }

    /// The reason why a program was not run to its end.
    package enum Failure: Error, Equatable {
        /// The process that starts programs has ended.
        case helperGone
        /// That process has as many requests before it as it can have.
        case helperBusy
        /// That process, or the one that it makes for this program, has not answered.
        case silent
        /// The program of before could not be killed, and still runs.
        case stillRunning
        /// The process that watched over this program was killed, or could not be made.
        case watcherGone
        /// Nobody waits for it any more.
        case cancelled
        /// The system lacks something that is needed.
        case system(SystemError)
    }

    /// Runs a program to its end, without a shell and with `PATH`, `HOME`, `USER`, `LANG` and `TZ` alone of the environment.
    ///
    /// Once the task is cancelled the program and its group are told to end, and killed a second later.
    ///
    /// - Parameters:
    ///   - command: the program, searched on `PATH` unless it has a slash, and its arguments.
    ///   - limit: what still runs then is killed.
    /// - Throws: ``Failure``.
    package func run(_ command: [String], limit: Duration) async throws(Failure) -> Result {
        guard !left.runs(command) else { throw .stillRunning }
        var number: CInt = -1
        switch bearerd_command_ask(requests.number, &number) {
        case 0: break
        case EPIPE, ECONNRESET, ENOTCONN: throw .helperGone
        case EAGAIN: throw .helperBusy
        case let code: throw .system(SystemError(.spawn, path: command[0], code: code))
        }
        let answer = CommandAnswer(Descriptor(number: number, path: command[0]))
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Swift.Result<Result, Failure>, Never>) in
                do throws(SystemError) {
                    try SystemThread.start(named: "command") {
                        continuation.resume(returning: Self.run(command, over: answer, limit: limit))
                    }
                } catch {
                    continuation.resume(returning: .failure(.system(error)))
                }
            }
        } onCancel: {
            answer.hangUp()
        }
        guard !Task.isCancelled else { throw .cancelled }
        let result = try outcome.get()
        if result.outcome == .left { left.insert(answer, of: command) }
        return result
    }

    private static func run(
        _ command: [String], over answer: CommandAnswer, limit: Duration
    ) -> Swift.Result<Result, Failure> {
        var words: [UInt8] = []
        for word in command {
            words += word.utf8
            words.append(0)
        }
        var request = bearerd_command_request(
            limit_milliseconds: UInt32(clamping: Int(limit / .milliseconds(1))),
            count: UInt32(command.count), bytes: UInt32(words.count))
        var bytes = withUnsafeBytes(of: &request) { Array($0) }
        bytes += words
        do throws(SystemError) {
            try answer.socket.writeAll(bytes)
        } catch {
            return .failure(.watcherGone)
        }
        var header = bearerd_command_result()
        let headerSize = MemoryLayout<bearerd_command_result>.size
        let longest = headerSize + longestOutput + Int(BEARERD_COMMAND_ERROR) + 1
        var count = -1
        let received = [UInt8](unsafeUninitializedCapacity: longest) { buffer, initialized in
            count = bearerd_collect(
                answer.socket.number, buffer.baseAddress, buffer.count,
                CInt(clamping: Int((limit + grace) / .milliseconds(1))))
            initialized = max(0, count)
        }
        guard count >= headerSize else {
            return .failure(count < 0 && errno == ETIMEDOUT ? .silent : .watcherGone)
        }
        withUnsafeMutableBytes(of: &header) { $0.copyBytes(from: received[..<headerSize]) }
        let end = headerSize + Int(header.output)
        guard received.count == end + Int(header.error) else { return .failure(.watcherGone) }
        return .success(
            Result(
                outcome: outcome(of: header), output: Array(received[headerSize..<end]),
                error: Array(received[end...])))
    }

    private static func outcome(of header: bearerd_command_result) -> Outcome {
        switch Int(header.kind) {
        case BEARERD_COMMAND_EXITED: .exited(header.code)
        case BEARERD_COMMAND_SIGNALLED: .signalled(header.code)
        case BEARERD_COMMAND_TIMED_OUT: .timedOut
        case BEARERD_COMMAND_TOO_LONG: .tooMuchOutput
        case BEARERD_COMMAND_LEFT: .left
        default: .notStarted(header.code)
        }
    }
}

/// The socket out of which the result of one program comes, for the thread that waits for it and whoever ends that wait.
final class CommandAnswer: Sendable {
    let socket: Descriptor

    init(_ socket: consuming Descriptor) { self.socket = socket }

    /// Has the program end; who reads gets no more.
    func hangUp() { shutdown(socket.number, CInt(SHUT_RDWR)) }

    /// False once the other end has been closed, and not only shut down for writing.
    var isOpen: Bool {
        var entry = pollfd(fd: socket.number, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 0 || entry.revents & Int16(POLLHUP) == 0
    }
}
