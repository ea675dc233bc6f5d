// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

/// Reads response heads from an upstream's bytes, as strictly as ``RequestParser`` reads requests (RFC 9112 §4).
package struct ResponseParser: Sendable {
    private var reader: HeadReader<StatusLine>
    /// Whether the upstream lets the connection live on after the response read last (RFC 9112 §9.3).
    ///
    /// A body that ends with the connection says otherwise, whatever the fields say.
    package private(set) var isPersistent = true
    /// What the framing fields of the head read last say, nil if there are none.
    private var framing = Result<BodyFraming?, HTTPParseError>.success(nil)

    /// A parser for one connection.
    package init(limits: HeadLimits = HeadLimits()) {
        reader = HeadReader(limits: limits)
    }

    /// Reads one head from the front of `bytes`, interim ones (1xx) included.
    ///
    /// A fault of the framing is no fault of the head: ``bodyFraming(of:answering:)`` tells it.
    ///
    /// - Parameters:
    ///   - bytes: from the end of the last message on; the same again, with more behind, after nil.
    ///   - response: emptied with the first bytes of a head, filled when it is complete; its memory is reused.
    /// - Returns: how many bytes the head took; nil if it is not complete.
    /// - Throws: the first fault from left to right.
    package mutating func parse(
        _ bytes: Span<UInt8>, into response: inout HTTPResponse
    ) throws(HTTPParseError) -> Int? {
        guard !bytes.isEmpty else { return nil }
        let head = bytes.extracting(first: reader.limits.headerBytes)
        do throws(HTTPParseError) {
            guard let (line, end) = try reader.read(head, borrowing: &response.fields) else {
                response.removeAll()
                return nil
            }
            response.status = line.status
            response.version = line.version
            response.reasonBytes.replaceAll(with: head.extracting(line.reason))
            reader.finish(head.extracting(first: end), into: &response.fields)
            isPersistent = response.fields.isPersistent(line.version)
            framing = response.fields.judgedFraming(line.version)
            return end
        } catch {
            reset()
            response.removeAll()
            throw error
        }
    }

    /// Forgets a head that has begun: what comes next is on another connection.
    package mutating func reset() { reader.reset() }

    /// How the content behind the head read last ends, which depends on what it answers (RFC 9112 §6.3).
    ///
    /// The framing fields are judged even where there can be no content.
    ///
    /// - Parameters:
    ///   - status: of that head.
    ///   - method: of the request.
    @inline(__always)
    package func bodyFraming(
        of status: Int, answering method: HTTPMethod
    ) throws(HTTPParseError) -> BodyFraming {
        let framing = try framing.get()
        switch status {
        case 100..<200, 204, 304: return .none
        default: return method == .head ? .none : framing ?? .untilClose
        }
    }
}
