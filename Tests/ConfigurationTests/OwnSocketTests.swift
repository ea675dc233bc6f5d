// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Glibc
import Testing

@Suite struct `Among addresses` {
    @Test func `a Unix socket is one however its path is spelled`() throws {
        let directory = try TemporaryDirectory()
        symlink(directory.path, "\(directory.path)/again")
        let name = directory.path.split(separator: "/").last ?? ""
        let (path, parent) = ("\(directory.path)/x", directory.path.dropLast(name.count + 1))
        let others = [
            "\(directory.path)//x", "\(directory.path)/again/x", "\(parent)/../\(parent)/\(name)/./x",
        ]
        for other in others {
            #expect(
                errors("listen: ['unix:\(path)', 'unix:\(other)']\n" + smallest)
                    == ["listen: unix:\(other) is listened on twice: it is in unix:\(path), too"])
            let upstream = smallest.replacing("https://api.example.com", with: "http+unix:\(other)")
            #expect(
                errors("listen: unix:\(path)\n" + upstream)
                    == ["routes[0].upstream: is bearerd's own listener unix:\(path)"])
        }
        for other in ["\(directory.path)/again/y", "\(parent)/x", "\(directory.path)/nowhere/x"] {
            #expect(errors("listen: ['unix:\(path)', 'unix:\(other)']\n" + smallest) == [])
        }
    }

    private func errors(_ text: String) -> [String] {
        report(text).problems.filter { $0.severity == .error }.map { "\($0.path): \($0.reason)" }
    }
}
