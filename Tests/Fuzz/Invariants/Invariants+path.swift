// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

extension Invariants {
    /// Checks a path with every kind of server: a route's token reaches no path outside the route.
    ///
    /// - Parameters:
    ///   - path: begins with a slash.
    ///   - readers: the servers to try.
    package static func violation(path: [UInt8], readers: [PathReader] = PathReader.all) -> String? {
        let forms: [[UInt8]]
        switch RequestPath.understanding(of: path.span) {
        case .asSent: forms = [path]
        case .oneOf(let others): forms = [path] + others
        case .anything: return nil
        }
        for route in routes(to: path) {
            let prefix = Array(("/" + route.joined(separator: "/")).utf8)
            let matches = Set(forms.map { RequestPath.hasPrefix(prefix.span, $0.span) })
            guard matches.count == 1, let isRouted = matches.first else { continue }
            for reader in readers {
                if let violation = violation(path, route, prefix, isRouted: isRouted, reader) {
                    let text = String(decoding: path, as: UTF8.self)
                    return "\(text) on \(route) is \(violation) for \(reader)"
                }
            }
        }
        return nil
    }

    private static func violation(
        _ path: [UInt8], _ route: [String], _ prefix: [UInt8], isRouted: Bool, _ reader: PathReader
    ) -> String? {
        let place = reader.read(path).segments
        guard isRouted else {
            // No server takes a parameter for a segment of its own, or the rest of a path for nothing.
            let isOdd = reader.parameters == .separator || reader.stopsAtEncodedEnds
            return !isOdd && place.starts(with: route) ? "inside" : nil
        }
        guard place.starts(with: route) else { return "outside" }
        let rest = Array(path.dropFirst(prefix.count))
        guard !RequestPath.climbs(rest.span) else { return nil }
        let base = Array("/base/v1".utf8)
        let exchanged = reader.read(base + rest)
        guard !exchanged.climbs, exchanged.segments.starts(with: ["base", "v1"]) else {
            return "outside of the upstream's prefix"
        }
        return !rest.isEmpty && reader.read(rest).climbs ? "above the upstream's root" : nil
    }

    /// Some that the path may be for: its own plain beginnings, and what it might turn into.
    private static func routes(to path: [UInt8]) -> [[String]] {
        let plain = path.split(separator: 0x2F, maxSplits: 3).prefix { segment in
            segment.allSatisfy { 0x61...0x7A ~= $0 }
        }
        let names = plain.map { String(decoding: $0, as: UTF8.self) }
        let own = names.indices.map { Array(names[...$0]) }
        return own + [["admin"], ["reports", "admin"], ["a", "b"]].filter { !own.contains($0) }
    }
}
