// SPDX-License-Identifier: Apache-2.0
//
// As much of swift-nio's NIOHTTP1 as the example needs.

public enum HTTPMethod: Sendable {
    case GET
    case RAW(value: String)

    public init(rawValue: String) { self = rawValue == "GET" ? .GET : .RAW(value: rawValue) }
}

public struct HTTPHeaders: Sendable, Sequence {
    private var fields: [(name: String, value: String)] = []

    public init() {}

    public mutating func add(name: String, value: String) { fields.append((name, value)) }
    public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }
}

public struct HTTPResponseStatus: Sendable {
    public var code: UInt { 200 }
}
