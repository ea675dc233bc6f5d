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
        case .asSent: forms = [RequestPath.canonical(path.span)]
        case .oneOf(let others): forms = [RequestPath.canonical(path.span)] + others
        case .anything: return nil
        }
        if let violation = spellingViolation(path, forms) { return violation }
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
            // No server takes a parameter for a segment of its own.
            return reader.parameters != .separator && place.starts(with: route) ? "inside" : nil
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

    /// Checks the path with routes that have characters of several spellings: a server that decodes it first, and ends
    /// it at some bytes, finds itself on the same side of them.
    private static func spellingViolation(_ path: [UInt8], _ forms: [[UInt8]]) -> String? {
        let decoded = percentDecoded(path)
        let isPlain = !decoded.contains { [0x2E, 0x3B, 0x5C].contains($0) }
        guard isPlain else { return nil }
        let end = decoded.firstIndex { [0, 0x23, 0x3F].contains($0) } ?? decoded.count
        for route in ["/a:b", "/a/b,c", "/\u{FC}", "/a|b", "/a%", "/orders"] {
            let prefix = RequestPath.canonical(Array(route.utf8).span)
            let matches = Set(forms.map { RequestPath.hasPrefix(prefix.span, $0.span) })
            guard matches.count == 1, let isRouted = matches.first else { continue }
            let wanted = route.utf8.split(separator: 0x2F).map(Array.init)
            for place in [decoded[...], decoded[..<end]] {
                let segments = place.split(separator: 0x2F).map(Array.init)
                guard segments.starts(with: wanted) != isRouted else { continue }
                return "\(latin1(path)) is \(isRouted ? "outside" : "inside") of \(route) once it is decoded"
            }
        }
        return nil
    }

    private static func percentDecoded(_ path: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = path[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == 0x25, digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
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
