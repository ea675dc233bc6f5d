// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem

/// The fields of a line of the access log in their order, each with the key in front of it.
///
/// A line is one call: its pieces are shorter than what a call for each would cost.
///
/// An object without a C type among its properties, because modules that do not know that type would take a struct for
/// smaller than it is.
///
/// `@unchecked Sendable`: it changes only while it is made.
package final class LinePlan: @unchecked Sendable {
    /// A value of a line; the texts of ``Texts`` and the numbers of ``Numbers``.
    package enum Field: UInt8, Sendable {
        case requestID, method, route
        /// Name and identity of the route with their keys, for ``Texts/route``.
        case routePart
        case identity, path, `protocol`, status, grpcStatus, code, upstream, bytesIn, bytesOut, seconds
        /// The key alone.
        case replayed
        case peer
        /// The end of the line: the key alone.
        case end
    }

    /// The values that are numbers.
    package struct Numbers {
        package let status: UInt64
        /// Left out if nil.
        package let grpcStatus: UInt64?
        package let bytesIn, bytesOut, nanoseconds: UInt64
        /// Left out if false.
        package let isReplayed: Bool

        @inline(__always)
        package init(
            status: UInt64, grpcStatus: UInt64?, bytesIn: UInt64, bytesOut: UInt64, nanoseconds: UInt64,
            isReplayed: Bool
        ) {
            self.status = status
            self.grpcStatus = grpcStatus
            self.bytesIn = bytesIn
            self.bytesOut = bytesOut
            self.nanoseconds = nanoseconds
            self.isReplayed = isReplayed
        }
    }

    /// The bytes of a line's keys and numbers, and those that must be free behind it.
    package let room: Int
    /// An array of `bearerd_line_step`, freed in deinit.
    private let steps: UnsafeMutableRawPointer
    private let count: Int
    private let quotes: Bool

    /// - Parameters:
    ///   - fields: the limit is the most bytes that are shown of a text that clients choose; 0 for any other value. A key
    ///     has at most 24 bytes.
    ///   - quotes: true if a quote stands behind each text.
    package init(_ fields: [(field: Field, key: String, limit: Int)], quotes: Bool) {
        self.quotes = quotes
        room = 64 + 48 * fields.count
        count = fields.count
        let memory = UnsafeMutableBufferPointer<bearerd_line_step>.allocate(capacity: fields.count)
        for (index, (field, key, limit)) in fields.enumerated() {
            var step = bearerd_line_step()
            precondition(key.utf8.count <= MemoryLayout.size(ofValue: step.key), "the key is too long")
            withUnsafeMutableBytes(of: &step.key) { $0.copyBytes(from: key.utf8) }
            step.key_length = UInt8(key.utf8.count)
            step.field = field.rawValue
            step.limit = UInt16(limit)
            memory.initializeElement(at: index, to: step)
        }
        guard let start = memory.baseAddress else { preconditionFailure("a line without an end") }
        steps = UnsafeMutableRawPointer(start)
    }

    deinit { steps.deallocate() }

    /// Writes a line, for which there must be room.
    ///
    /// Of what clients choose, quotes, backslashes and all but printable ASCII are percent-encoded.
    ///
    /// - Parameters:
    ///   - time: all that stands in front of the first field.
    ///   - identity: left out if it is empty, as are `code` and `upstream`.
    package func write(
        time: Span<UInt8>, requestID: Span<UInt8>, method: Span<UInt8>, route: Span<UInt8>,
        identity: Span<UInt8>, path: Span<UInt8>, protocolName: StaticString, code: Span<UInt8>,
        upstream: Span<UInt8>, peer: Span<UInt8>, _ numbers: Numbers, to output: inout OutputSpan<UInt8>
    ) {
        output.withUnsafeMutableBufferPointer { buffer, filled in
            guard let start = buffer.baseAddress else { preconditionFailure("no room was made") }
            var line = bearerd_line()
            line.protocol = bearerd_text(
                bytes: protocolName.utf8Start, length: protocolName.utf8CodeUnitCount)
            line.status = numbers.status
            line.grpc_status = numbers.grpcStatus ?? 0
            line.has_grpc_status = numbers.grpcStatus != nil
            line.bytes_in = numbers.bytesIn
            line.bytes_out = numbers.bytesOut
            line.nanoseconds = numbers.nanoseconds
            line.is_replayed = numbers.isReplayed
            // One inside the other, because each is lent as long as its closure runs.
            let written = time.withText {
                line.time = $0
                return requestID.withText {
                    line.request_id = $0
                    return method.withText {
                        line.method = $0
                        return route.withText {
                            line.route = $0
                            return identity.withText {
                                line.identity = $0
                                return path.withText {
                                    line.path = $0
                                    return code.withText {
                                        line.code = $0
                                        return upstream.withText {
                                            line.upstream = $0
                                            return peer.withText {
                                                line.peer = $0
                                                return bearerd_write_line(
                                                    steps.assumingMemoryBound(to: bearerd_line_step.self),
                                                    count, &line, quotes, start + filled,
                                                    buffer.count - filled)
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            precondition(written <= buffer.count - filled, "no room was made")
            filled += written
        }
    }
}

extension Span<UInt8> {
    @inline(__always)
    fileprivate func withText(_ body: (bearerd_text) -> Int) -> Int {
        withUnsafeBufferPointer { body(bearerd_text(bytes: $0.baseAddress, length: $0.count)) }
    }
}
