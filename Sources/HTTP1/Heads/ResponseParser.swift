// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

/// Parses response heads from an upstream's bytes, as strictly as ``RequestParser`` parses requests (RFC 9112
/// §4).
package struct ResponseParser: Sendable {
    private var reader: HeadReader<StatusLine>
    /// True if the upstream keeps the connection open after the last response (RFC 9112 §9.3).
    ///
    /// It ignores that content which ends with the connection ends it all the same.
    package private(set) var isPersistent = true
    /// The framing that the fields of the last head declare; nil if they declare none.
    private var framing = Result<BodyFraming?, HTTPParseError>.success(nil)

    /// Makes a parser for one connection.
    package init(limits: HeadLimits = HeadLimits()) {
        reader = HeadReader(limits: limits)
    }

    /// Parses one head at the front of `bytes`; interim ones (1xx) are returned too.
    ///
    /// A fault of the framing is not thrown here but by ``bodyFraming(of:answering:)``.
    ///
    /// - Parameters:
    ///   - bytes: the bytes since the end of the last message; after nil the same again with more behind
    ///     them.
    ///   - response: emptied with the first bytes of a head, filled when it is complete; its memory is
    ///     reused.
    /// - Returns: the length of the head; nil if it is incomplete.
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

    /// Drops a head that has begun, because the next bytes come from another connection.
    package mutating func reset() { reader.reset() }

    /// The framing of the content behind the last head, which depends on the request (RFC 9112 §6.3).
    ///
    /// The framing fields must be valid even if there can be no content.
    ///
    /// - Parameters:
    ///   - status: the status in the last head.
    ///   - method: the method of the request.
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
