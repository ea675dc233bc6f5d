// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// Threads of our own (`pthread_create`), for work that blocks.
///
/// They receive no signals, which are the control loop's.
enum SystemThread {
    /// Starts a detached thread.
    ///
    /// - Parameters:
    ///   - name: the name that `top -H` shows, at most 15 bytes.
    ///   - body: the thread ends when this returns.
    /// - Throws: ``SystemError`` if the system has no thread left.
    static func start(
        named name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        pthread_detach(try make(named: name, body))
    }

    /// Runs `body` on a thread, and waits for its end; on the caller's if the system has no thread left.
    static func run(named name: String, _ body: () -> Void) {
        withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) let body = body  // the caller waits, and does nothing else with it
            do throws(SystemError) {
                pthread_join(try make(named: name) { body() }, nil)
            } catch {
                body()
            }
        }
    }

    private static func make(
        named name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        var handle = pthread_t()
        // Balanced by takeRetainedValue in the thread's first line.
        let context = Unmanaged.passRetained(ThreadLife(name: name, body: body)).toOpaque()
        let status = pthread_create(&handle, nil, live, context)
        guard status == 0 else {
            Unmanaged<ThreadLife>.fromOpaque(context).release()
            throw SystemError(.createThread, code: status)
        }
        return handle
    }
}

private final class ThreadLife {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func live(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let life = Unmanaged<ThreadLife>.fromOpaque(context).takeRetainedValue()
    bearerd_name_thread(life.name)
    life.body()
    return nil
}
