// SPDX-License-Identifier: Apache-2.0

/// Builds the tree of a document from its events.
///
/// Aliases share the value they name, so memory is bounded by the text. Each use counts with all its values against
/// ``YAMLLimits/nodes``, so that walking the tree is bounded too ("billion laughs").
struct YAMLComposer: ~Copyable {
    private struct Anchored {
        let node: YAMLNode
        let size: Int
    }

    private var parser: YAMLParser
    private let limits: YAMLLimits
    private var anchors: [String: Anchored] = [:]
    private var openAnchors: [String] = []
    private var nodes = 0

    init(parser: consuming YAMLParser, limits: YAMLLimits) {
        self.parser = parser
        self.limits = limits
    }

    /// The value of the only document; nil if there is none.
    mutating func document() throws(YAMLError) -> YAMLNode? {
        var root: YAMLNode?
        var documents = 0
        while true {
            let event = try parser.next()
            switch event.kind {
            case .streamStart, .documentEnd: continue
            case .streamEnd: return root
            case .documentStart:
                documents += 1
                guard documents == 1 else { throw YAMLError(mark: event.mark, reason: .secondDocument) }
            case .alias, .scalar, .sequenceStart, .sequenceEnd, .mappingStart, .mappingEnd:
                root = try node(of: event, depth: 0)
            }
        }
    }

    private mutating func node(of event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
        let before = nodes
        try charge(1, at: event.mark)
        guard depth < limits.depth
        else { throw YAMLError(mark: event.mark, reason: .tooDeep(limit: limits.depth)) }
        let properties: YAMLEvent.Properties
        let content: YAMLNode.Content
        switch event.kind {
        case .alias(let name):
            guard !openAnchors.contains(name)
            else { throw YAMLError(mark: event.mark, reason: .recursiveAlias(name)) }
            guard let target = anchors[name]
            else { throw YAMLError(mark: event.mark, reason: .unknownAnchor(name)) }
            try charge(target.size, at: event.mark)
            return target.node
        case .scalar(let scalar, let given):
            properties = given
            let style: YAMLScalar.Style =
                switch try CoreTag(given.tag, at: event.mark) {
                case .text: .quoted
                case .looks: .plain
                case .none: scalar.style
                }
            content = .scalar(YAMLScalar(scalar.text, style: style))
        case .sequenceStart(let given):
            properties = given
            content = .sequence(
                try within(given, at: event.mark) { composer throws(YAMLError) in
                    try composer.items(depth: depth + 1)
                })
        case .mappingStart(let given):
            properties = given
            content = .mapping(
                try within(given, at: event.mark) { composer throws(YAMLError) in
                    try composer.entries(depth: depth + 1)
                })
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            // libyaml never gives these events where a value is expected.
            throw YAMLError(mark: event.mark, reason: .syntax("a value is missing"))
        }
        let node = YAMLNode(content, at: event.mark)
        if let anchor = properties.anchor {
            anchors[anchor] = Anchored(node: node, size: nodes - before)
        }
        return node
    }

    /// Composes a list or map, inside which its own anchor cannot be used.
    private mutating func within<Result>(
        _ properties: YAMLEvent.Properties, at mark: Mark,
        _ compose: (inout YAMLComposer) throws(YAMLError) -> Result
    ) throws(YAMLError) -> Result {
        _ = try CoreTag(properties.tag, at: mark)
        guard let anchor = properties.anchor else { return try compose(&self) }
        openAnchors.append(anchor)
        let result = try compose(&self)
        openAnchors.removeLast()
        return result
    }

    private mutating func items(depth: Int) throws(YAMLError) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let event = try parser.next()
            if case .sequenceEnd = event.kind { return items }
            items.append(try node(of: event, depth: depth))
        }
    }

    private mutating func entries(depth: Int) throws(YAMLError) -> YAMLMapping {
        var mapping = YAMLMapping()
        while true {
            let event = try parser.next()
            if case .mappingEnd = event.kind { return mapping }
            let keyNode = try node(of: event, depth: depth)
            guard case .scalar(let key) = keyNode.content
            else { throw YAMLError(mark: event.mark, reason: .keyIsNotScalar) }
            guard key != YAMLScalar("<<", style: .plain)
            else { throw YAMLError(mark: event.mark, reason: .mergeKey) }
            let value = try node(of: try parser.next(), depth: depth)
            mapping.append(YAMLMapping.Entry(key: key.text, mark: event.mark, value: value))
        }
    }

    private mutating func charge(_ count: Int, at mark: Mark) throws(YAMLError) {
        nodes += count
        guard nodes <= limits.nodes
        else { throw YAMLError(mark: mark, reason: .tooManyNodes(limit: limits.nodes)) }
    }
}

/// A tag of YAML's core schema, by what it says of a single value.
private enum CoreTag: Equatable {
    /// A text, whatever it looks like.
    case text
    /// The type of its looks, in quotes too.
    case looks
    /// Nothing.
    case none

    init(_ tag: String?, at mark: Mark) throws(YAMLError) {
        let schema = "tag:yaml.org,2002:"
        switch tag {
        case "!", schema + "str": self = .text
        case schema + "int", schema + "bool", schema + "null", schema + "float": self = .looks
        case nil, schema + "seq", schema + "map": self = .none
        case .some(let tag): throw YAMLError(mark: mark, reason: .unknownTag(tag))
        }
    }
}
