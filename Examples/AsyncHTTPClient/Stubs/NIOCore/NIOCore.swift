// SPDX-License-Identifier: Apache-2.0
//
// As much of swift-nio's NIOCore as the example needs.

public struct TimeAmount: Sendable {
    public static func nanoseconds(_ amount: Int64) -> TimeAmount { TimeAmount() }
}

public struct ByteBuffer: Sendable {
    public var readableBytesView: [UInt8]
    public init(bytes: [UInt8]) { readableBytesView = bytes }
}

public struct NIOTooManyBytesError: Error {}

public struct NIOConnectionError: Error {}
