// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import Glibc
import Testing

@Suite struct `Files` {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func content(_ name: String) -> String? {
        (try? FileSystem.read(directory.path(name), limit: 1 << 20)).map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
    }

    @Test func `a replacement is private, whole and leaves nothing beside it`() throws {
        umask(0o022)
        let path = directory.path("state")
        _ = try FileReplacement.replace(
            FilePlace(path), with: Array("one".utf8), keepingPreviousAs: FilePlace(directory.path("previous"))
        )
        _ = try FileReplacement.replace(
            FilePlace(path), with: Array("two".utf8), keepingPreviousAs: FilePlace(directory.path("previous"))
        )
        #expect(content("state") == "two")
        #expect(content("previous") == "one")
        #expect(try FileSystem.status(of: path)?.mode == 0o600)
        #expect(try FileSystem.names(in: directory.path) == ["previous", "state"])
    }

    @Test func `letting everybody use a socket touches nothing but a socket of our own`() throws {
        let (path, other) = (directory.path("socket"), directory.path("other"))
        let listener = try Socket.listening(unixPath: path)
        chmod(path, 0o700)
        try FileSystem.allowAll(toUseSocket: path)
        #expect(TemporaryDirectory.mode(of: path) == 0o666)
        withExtendedLifetime(listener) {}
        try directory.write("other", "fake key")
        chmod(other, 0o600)
        unlink(path)
        symlink(other, path)
        #expect(throws: SystemError(.open, path: path, code: ENOTSOCK)) {
            try FileSystem.allowAll(toUseSocket: path)
        }
        unlink(path)
        link(other, path)
        #expect(throws: SystemError.self) { try FileSystem.allowAll(toUseSocket: path) }
        #expect(TemporaryDirectory.mode(of: other) == 0o600)
    }

    @Test(arguments: FileReplacement.Step.allCases)
    func `stopping after any step leaves the old content or the new`(last: FileReplacement.Step) throws {
        let path = directory.path("state")
        _ = try FileReplacement.replace(FilePlace(path), with: Array("old".utf8))
        var replacement = FileReplacement(
            of: FilePlace(path), with: Array("new".utf8),
            keepingPreviousAs: FilePlace(directory.path("previous")))
        for step in FileReplacement.Step.allCases {
            try replacement.take(step)
            if step == last { break }
        }
        let isPublished = last == .publish || last == .synchronizeDirectory
        #expect(content("state") == (isPublished ? "new" : "old"))
        #expect(content("previous") ?? "old" == "old")

        _ = try FileReplacement.replace(FilePlace(path), with: Array("next".utf8))
        #expect(content("state") == "next")
    }

    @Test func `a replacement never writes through a link that somebody put in its way`() throws {
        let path = directory.path("state")
        #expect(symlink(directory.path("victim"), path + ".new") == 0)
        _ = try FileReplacement.replace(FilePlace(path), with: Array("mine".utf8))
        #expect(content("state") == "mine")
        #expect(try FileSystem.status(of: directory.path("victim")) == nil)
    }

    @Test func `a failure names the call, the path and the reason`() {
        let path = directory.path("none/state")
        let error = #expect(throws: SystemError.self) {
            try FileReplacement.replace(FilePlace(path), with: [])
        }
        #expect(error == SystemError(.open, path: path + ".new", code: ENOENT))
        #expect(error?.isMissing == true)
        #expect(error.map { "\($0)" } == "open \(path).new: No such file or directory")
    }

    @Test func `reading stops at the limit and refuses a link where asked`() throws {
        let path = directory.path("state")
        _ = try FileReplacement.replace(FilePlace(path), with: Array(repeating: 65, count: 100_000))
        #expect(try FileSystem.read(path, limit: 100_000).bytes.count == 100_000)
        #expect(throws: SystemError(.read, path: path, code: EFBIG)) {
            try FileSystem.read(path, limit: 99_999)
        }
        #expect(symlink(path, directory.path("link")) == 0)
        #expect(try FileSystem.read(directory.path("link"), limit: 100_000).bytes.count == 100_000)
        #expect(throws: SystemError.self) {
            try FileSystem.read(directory.path("link"), limit: 9, followingLink: false)
        }
        #expect(throws: SystemError(.read, path: directory.path, code: EISDIR)) {
            try FileSystem.read(directory.path, limit: 9)
        }
    }

    @Test func `a directory is made with its parents, the last one private`() throws {
        umask(0o022)
        try FileSystem.createPrivateDirectory(directory.path("a/b/c"))
        try FileSystem.createPrivateDirectory(directory.path("a/b/c"))
        #expect(try FileSystem.status(of: directory.path("a/b/c"))?.mode == 0o700)
        #expect(try FileSystem.status(of: directory.path("a"))?.mode == 0o755)
        #expect(try FileSystem.status(of: directory.path("a/b"))?.kind == .directory)
    }

    @Test func `a lock has one holder at a time`() throws {
        let path = directory.path("lock")
        func isFree() throws -> Bool {
            switch try FileLock.acquire(FilePlace(path)) {
            case .some: true
            case .none: false
            }
        }
        let lock = try FileLock.acquire(FilePlace(path))
        #expect(try !isFree())
        _ = consume lock
        #expect(try isFree())
        #expect(try FileSystem.status(of: path)?.mode == 0o600)
    }

    @Test func `a lock neither waits for nor harms what has its name`() throws {
        let content = Array("kept".utf8)
        _ = try FileReplacement.replace(FilePlace(directory.path("other")), with: content)
        #expect(link(directory.path("other"), directory.path("linked")) == 0)
        #expect(mkfifo(directory.path("fifo"), 0o400) == 0)
        for name in ["linked", "fifo"] {
            switch try FileLock.acquire(FilePlace(directory.path(name))) {
            case .some: break
            case .none: Issue.record("\(name) is locked by nobody")
            }
        }
        #expect(try FileSystem.read(directory.path("other"), limit: 100).bytes == content)
    }

    @Test func `a watcher tells of what changed between the reading and the watch`() async throws {
        let thread = try ThreadExecutor(named: "watch")
        defer { thread.stop() }
        let watcher = FileWatcher(on: thread, every: .seconds(3600))
        let (path, missing) = (directory.path("key"), directory.path("missing"))
        let before = try FileReplacement.replace(FilePlace(path), with: Array("read".utf8))
        var others = watcher.changes(of: path).makeAsyncIterator()
        await Task(executorPreference: thread) {}.value  // the first look
        _ = try FileReplacement.replace(FilePlace(path), with: Array("written after it was read".utf8))
        _ = try FileReplacement.replace(FilePlace(missing), with: Array("made after it was missed".utf8))

        // None of these waits for the next look by itself.
        var ours = watcher.changes(of: path, since: FileState(before)).makeAsyncIterator()
        #expect(await ours.next() != nil)
        #expect(await others.next() != nil)
        var made = watcher.changes(of: missing, since: .absent).makeAsyncIterator()
        #expect(await made.next() != nil)
    }

    @Test func `a watcher tells of what others change and not of our own`() async throws {
        let thread = try ThreadExecutor(named: "watch")
        defer { thread.stop() }
        let watcher = FileWatcher(on: thread, every: .milliseconds(5))
        let path = directory.path("state")
        var changes = watcher.changes(of: path).makeAsyncIterator()
        await Task(executorPreference: thread) {}.value  // the first look

        _ = try FileReplacement.replace(FilePlace(path), with: Array("made".utf8))
        #expect(await changes.next() != nil)
        _ = try FileReplacement.replace(FilePlace(path), with: Array("replaced".utf8))
        #expect(await changes.next() != nil)
        try FileSystem.remove(FilePlace(path))
        #expect(await changes.next() != nil)

        var other = watcher.changes(of: directory.path("other")).makeAsyncIterator()
        await Task(executorPreference: thread) {}.value
        await withCheckedContinuation { done in
            // On the watcher's thread, so that it cannot look in between.
            thread.after(.zero) {
                let ours = try? FileReplacement.replace(FilePlace(path), with: Array("ours".utf8))
                watcher.expect(ours ?? nil, at: path)
                done.resume()
            }
        }
        _ = try FileReplacement.replace(FilePlace(directory.path("other")), with: [])
        #expect(await other.next() != nil)
        _ = try FileReplacement.replace(FilePlace(path), with: Array("theirs".utf8))
        #expect(await changes.next() != nil)
    }
}
