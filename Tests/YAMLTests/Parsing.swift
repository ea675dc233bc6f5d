// SPDX-License-Identifier: Apache-2.0

import BearerdYAML

func parse(_ text: String) throws -> YAMLNode? {
    try YAMLNode.parse(Array(text.utf8))
}

func failure(_ text: String, limits: YAMLLimits = YAMLLimits()) -> YAMLError? {
    failure(bytes: Array(text.utf8), limits: limits)
}

func failure(bytes: [UInt8], limits: YAMLLimits = YAMLLimits()) -> YAMLError? {
    do throws(YAMLError) {
        _ = try YAMLNode.parse(bytes, limits: limits)
        return nil
    } catch {
        return error
    }
}

extension YAMLNode {
    subscript(key: String) -> YAMLMapping.Entry? {
        guard case .mapping(let mapping) = content else { return nil }
        return mapping[key]
    }

    var items: [YAMLNode] {
        guard case .sequence(let items) = content else { return [] }
        return items
    }

    var scalar: YAMLScalar? {
        guard case .scalar(let scalar) = content else { return nil }
        return scalar
    }
}
