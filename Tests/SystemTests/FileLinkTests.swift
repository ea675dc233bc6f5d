// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

@testable import BearerdSystem

/// Where a link on the way to a file may be turned to.
@Suite struct `The links on the way to a file` {
    private func directory(_ paths: String...) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for path in paths { mkdir(directory.path(path), 0o700) }
        return directory
    }

    @Test func `are none where there are none`() throws {
        let directory = try directory("a", "a/b")
        #expect(FileLinks.places(of: directory.path("a/b/token")).isEmpty)
        #expect(FileLinks.places(of: directory.path("a/./b/../b/token")).isEmpty)
    }

    @Test func `stand in directories, and so do their targets`() throws {
        let directory = try directory("app", "store", "store/v1")
        symlink("../store/v1", directory.path("app/current"))
        #expect(
            FileLinks.places(of: directory.path("app/current/token"))
                == [directory.path("app"), directory.path("store")])
        symlink(directory.path("store/v1"), directory.path("app/absolute"))
        #expect(
            FileLinks.places(of: directory.path("app/absolute/token"))
                == [directory.path("app"), directory.path("store")])
    }

    /// A volume of Kubernetes: `token -> ..data/token`, `..data -> ..2026`.
    @Test func `are followed one after the other, the last part of the path too`() throws {
        let directory = try directory("volume", "volume/..2026")
        symlink("..2026", directory.path("volume/..data"))
        symlink("..data/token", directory.path("volume/token"))
        #expect(
            FileLinks.places(of: directory.path("volume/token"))
                == [directory.path("volume"), directory.path("volume/..2026")])
    }

    @Test func `end where they go in a circle or lead nowhere`() throws {
        let directory = try directory("app")
        symlink("two", directory.path("app/one"))
        symlink("one", directory.path("app/two"))
        symlink("/nowhere/at/all", directory.path("app/lost"))
        #expect(FileLinks.places(of: directory.path("app/one/token")) == [directory.path("app")])
        #expect(FileLinks.places(of: directory.path("app/lost/token")) == [directory.path("app")])
    }
}
