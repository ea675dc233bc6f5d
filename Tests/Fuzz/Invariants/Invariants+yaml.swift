// SPDX-License-Identifier: Apache-2.0

import BearerdYAML

extension Invariants {
    /// Checks the tree, or the error, that a text yields.
    package static func violation(yaml bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count
        // libyaml counts further characters as line ends (U+0085, U+2028, U+2029, a bare CR).
        let last = lines + bytes.count { $0 == 0x0D || $0 == 0x85 || $0 == 0xA8 || $0 == 0xA9 } + 1
        var limits = YAMLLimits()
        limits.nodes = 1_000
        do throws(YAMLError) {
            guard let root = try YAMLNode.parse(bytes, limits: limits) else { return nil }
            var budget = limits.nodes
            return violation(of: root, depth: 0, lastLine: last, limits: limits, budget: &budget)
        } catch {
            if error.mark < .start || error.mark.line > last {
                return "an error outside the text: \(error.mark)"
            }
            return error.description.isEmpty ? "an error without words" : nil
        }
    }

    private static func violation(
        of node: YAMLNode, depth: Int, lastLine: Int, limits: YAMLLimits, budget: inout Int
    ) -> String? {
        budget -= 1
        if budget < 0 { return "more values than the limit" }
        if depth >= limits.depth { return "deeper than the limit" }
        if node.mark < .start || node.mark.line > lastLine { return "a value outside the text: \(node.mark)" }
        let children: [YAMLNode]
        switch node.content {
        case .scalar(let scalar):
            _ = (scalar.bool, scalar.integer, scalar.isNull)
            return nil
        case .sequence(let items): children = items
        case .mapping(let mapping):
            let keys = mapping.entries.map(\.key)
            if Set(keys).count != keys.count { return "a key twice among the entries" }
            if mapping.duplicates.contains(where: { mapping[$0.key] == nil }) {
                return "a repetition of nothing"
            }
            children = (mapping.entries + mapping.duplicates).map(\.value)
        }
        for child in children {
            let found = violation(
                of: child, depth: depth + 1, lastLine: lastLine, limits: limits, budget: &budget)
            if let found { return found }
        }
        return nil
    }
}
