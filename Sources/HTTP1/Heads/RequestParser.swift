// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

/// Reads request heads from a connection's bytes, strictly (RFC 9112 §3).
///
/// One parser serves one connection. It keeps only offsets: until a head is complete, the caller gives the same
/// bytes again with more behind them.
package struct RequestParser: Sendable {
    private var reader: HeadReader<RequestLine>
    /// Whether the client lets the connection live on after the response to the head read last (RFC 9112 §9.3).
    package private(set) var isPersistent = true
    /// How the content behind the head read last ends (RFC 9112 §6.3), every doubt refused.
    package private(set) var framing = Result<BodyFraming, HTTPParseError>.success(.none)

    /// A parser for one connection.
    package init(limits: HeadLimits = HeadLimits()) {
        reader = HeadReader(limits: limits)
    }

    /// Reads one head from the front of `bytes`; one empty line before it is skipped (RFC 9112 §2.2).
    ///
    /// An absolute-form target is turned into origin-form, its authority becoming `Host` (RFC 9112 §3.2.2).
    /// A fault of the framing is no fault of the head: ``framing`` tells it.
    ///
    /// - Parameters:
    ///   - bytes: from the end of the last message on.
    ///   - request: emptied with the first bytes of a head, filled when it is complete; its memory is reused.
    /// - Returns: how many bytes the head took; nil if it is not complete.
    /// - Throws: the first fault from left to right; the connection is then to be closed.
    package mutating func parse(
        _ bytes: Span<UInt8>, into request: inout HTTPRequest
    ) throws(HTTPParseError) -> Int? {
        guard !bytes.isEmpty else { return nil }
        var isFilled = false
        let head = bytes.extracting(first: reader.limits.headerBytes)
        do throws(HTTPParseError) {
            guard let (line, end) = try reader.read(head, borrowing: &request.fields) else {
                request.removeAll()
                return nil
            }
            request.method = line.method
            request.version = line.version
            request.targetBytes.replaceAll(with: head.extracting(line.target))
            reader.finish(head.extracting(first: end), into: &request.fields)
            isFilled = true
            try request.checkHostAndTarget()
            judgeEnd(of: &request)
            return end
        } catch {
            reader.reset()
            if !isFilled { request.removeAll() }
            throw error
        }
    }

    /// Says of a head that was refused, or did not arrive whole, what its method is; no word of it where there is none.
    ///
    /// The answer to HEAD has no content, whatever was wrong with the request (RFC 9110 §9.3.2).
    ///
    /// - Parameter bytes: those that were parsed last.
    package func nameMethod(of bytes: Span<UInt8>, in request: inout HTTPRequest) {
        request.method = RequestLine.method(of: bytes) ?? HTTPMethod(rawValue: "")
    }

    /// Finds out how the content ends, and whether the connection does.
    private mutating func judgeEnd(of request: inout HTTPRequest) {
        isPersistent = request.fields.isPersistent(request.version)
        framing = request.fields.judgedFraming(request.version).map { $0 ?? .none }
        if request.fields.has(.contentLength) { request.fields.shortenContentLength() }
    }
}
