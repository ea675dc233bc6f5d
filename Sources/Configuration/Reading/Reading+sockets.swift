// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension Reading {
    /// Warns of a Unix socket in a directory where other users could replace it and answer our clients.
    func judgeDirectory(of address: Found<ListenAddress>) {
        guard case .unix(let path) = address.value, let slash = path.lastIndex(of: "/") else { return }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        guard let status = try? FileSystem.status(of: directory) else { return }
        let mode = String(status.mode, radix: 8)
        let cause: String
        if status.isWritableByOthers {
            cause = "others may write to \(directory) (mode \(mode))"
        } else if status.ownership != .own {
            cause = "\(directory) belongs to user \(status.owner)"
        } else {
            return
        }
        warn(
            "\(cause): a socket that somebody else puts there is served by them; use a directory of our own",
            at: address.place)
    }
}
