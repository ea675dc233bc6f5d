// SPDX-License-Identifier: Apache-2.0

extension OutputSpan<UInt8> {
    /// Appends a copy of `bytes`, for which there must be room, at once and not byte by byte.
    package mutating func append(copying bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "no room was made")
        withUnsafeMutableBufferPointer { buffer, count in
            bytes.withUnsafeBufferPointer { source in
                guard let from = source.baseAddress, let to = buffer.baseAddress else { return }
                (to + count).initialize(from: from, count: source.count)
                count += source.count
            }
        }
    }
}
