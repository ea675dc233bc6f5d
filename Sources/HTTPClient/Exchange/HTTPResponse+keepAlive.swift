// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension HTTPResponse {
    /// The server's announced limit for an idle connection (`Keep-Alive: timeout=`, in seconds; RFC 2068
    /// §19.7.1.1).
    var announcedKeepAlive: Duration? {
        for member in fields.listMembers(of: .keepAlive) {
            let parts = member.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces().lowercased() }
            guard parts.count == 2, parts[0] == "timeout", let seconds = UInt16(parts[1]) else { continue }
            return .seconds(Int(seconds))
        }
        return nil
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        var rest = self
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
