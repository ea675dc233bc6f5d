// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

/// Parses request heads from a connection's bytes, strictly (RFC 9112 §3).
///
/// One parser serves one connection. It keeps only offsets: until a head is complete, the caller passes the
/// same bytes again with more behind them.
package struct RequestParser: Sendable {
    private var reader: HeadReader<RequestLine>
    /// The last `Host` that was found valid.
    private var knownHost: [UInt8] = []
    /// True if the client keeps the connection open after the response to the last head (RFC 9112 §9.3).
    package private(set) var isPersistent = true
    /// The framing of the content behind the last head (RFC 9112 §6.3); every ambiguity is an error.
    package private(set) var framing = Result<BodyFraming, HTTPParseError>.success(.none)

    /// Makes a parser for one connection.
    package init(limits: HeadLimits = HeadLimits()) {
        reader = HeadReader(limits: limits)
    }

    /// Starts over with another connection.
    ///
    /// It is as if it were made anew, but keeps its memory, and the last valid `Host`, which is as valid there.
    package mutating func begin(limits: HeadLimits) {
        reader.begin(limits: limits)
        isPersistent = true
        framing = .success(.none)
    }

    /// Parses one head at the front of `bytes`, after at most one empty line (RFC 9112 §2.2).
    ///
    /// An absolute-form target is turned into origin-form, and its authority becomes `Host` (RFC 9112
    /// §3.2.2). A fault of the framing is not thrown here but kept in ``framing``.
    ///
    /// - Parameters:
    ///   - bytes: the bytes since the end of the last message.
    ///   - request: emptied with the first bytes of a head, filled when it is complete; its memory is reused.
    /// - Returns: the length of the head; nil if it is incomplete.
    /// - Throws: the first fault from left to right; the connection must then be closed.
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
            try request.checkHostAndTarget(knowing: &knownHost)
            judgeEnd(of: &request)
            return end
        } catch {
            reader.reset()
            if !isFilled { request.removeAll() }
            throw error
        }
    }

    /// Puts the method of a faulty or incomplete head into `request`, empty if it cannot be read.
    ///
    /// The response to HEAD has no content, whatever was wrong with the request (RFC 9110 §9.3.2).
    ///
    /// - Parameter bytes: the bytes that were parsed last.
    package func nameMethod(of bytes: Span<UInt8>, in request: inout HTTPRequest) {
        request.method = RequestLine.method(of: bytes) ?? HTTPMethod(rawValue: "")
    }

    /// Determines the framing of the content, and if the connection persists.
    private mutating func judgeEnd(of request: inout HTTPRequest) {
        isPersistent = request.fields.isPersistent(request.version)
        framing = request.fields.judgedFraming(request.version).map { $0 ?? .none }
        if request.fields.has(.contentLength) { request.fields.shortenContentLength() }
    }
}
