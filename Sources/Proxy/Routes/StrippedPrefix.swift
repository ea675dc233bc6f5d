// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The beginning of a route's targets that `strip_prefix` removes.
enum StrippedPrefix: Equatable, Sendable {
    case none
    /// This many bytes: all clients spell it in one way.
    case bytes(Int)
    /// This many segments, which clients may spell in several ways.
    case segments(Int)

    /// - Parameter path: the route's, in its canonical spelling.
    init(_ path: [UInt8]) {
        let prefix = path.last == UInt8(ascii: "/") ? path.dropLast() : path[...]
        if prefix.contains(UInt8(ascii: "%")) {
            self = .segments(prefix.count { $0 == UInt8(ascii: "/") })
        } else {
            self = prefix.isEmpty ? .none : .bytes(prefix.count)
        }
    }

    /// The number of bytes to remove from a target that the route is for.
    func count(in target: Span<UInt8>) -> Int {
        switch self {
        case .none: 0
        case .bytes(let count): count
        case .segments(let segments): RequestPath.count(ofSegments: segments, in: target)
        }
    }
}
