// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdSystem

/// One header list or trailer section on its way in, field by field, bounded by the limits on heads.
///
/// nghttp2 has judged names, values and the order of pseudo-fields (RFC 9113 §8.2, §8.3) before anything comes here.
struct FieldCollector {
    private(set) var fields = HTTPFields()
    /// The fault of the list: a limit that it exceeds, or a malformed field.
    private(set) var fault: MessageFault?
    /// The decoded size (RFC 9113 §6.5.2).
    private(set) var size = 0
    private var cookie: [UInt8] = []
    private var isCookieNeverIndexed = false

    var method: [UInt8] = []
    var path: [UInt8] = []
    var authority: [UInt8]?
    var connectProtocol: [UInt8]?
    var status = 0

    mutating func begin() { self = FieldCollector() }

    /// Takes one field.
    ///
    /// - Parameter isNeverIndexed: true if it may be in no table on its way (RFC 7541 §6.2.3).
    mutating func take(
        _ name: Span<UInt8>, _ value: Span<UInt8>, isNeverIndexed: Bool, _ limits: HeadLimits
    ) {
        size += name.count + value.count + 32
        if size > limits.headerBytes || fields.count >= limits.maxFields { fault = fault ?? .headTooLarge }
        guard !name.isEmpty, name[0] == Byte.colon else {
            return takeField(name, value, isNeverIndexed: isNeverIndexed)
        }
        takePseudoField(name, value, limits)
    }

    private mutating func takeField(_ name: Span<UInt8>, _ value: Span<UInt8>, isNeverIndexed: Bool) {
        let known = KnownFieldName.find(in: name, 0..<name.count)
        // Of what is refused, the type alone counts: gRPC has errors of its own.
        guard fault == nil || (known == .contentType && !fields.has(.contentType)) else { return }
        // Crumbs are one field anywhere but in HTTP/2 (RFC 9113 §8.2.3).
        if known == .cookie {
            isCookieNeverIndexed = isCookieNeverIndexed || isNeverIndexed
            if !cookie.isEmpty { cookie.append(contentsOf: [Byte.semicolon, Byte.space]) }
            cookie.append(value)
            return
        }
        fields.append(checkedName: name, value: value, isNeverIndexed: isNeverIndexed)
    }

    private mutating func takePseudoField(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: HeadLimits) {
        switch name[1] {
        case UInt8(ascii: "m"): method.append(value)
        case UInt8(ascii: "a"): authority = [UInt8](copying: value)
        case UInt8(ascii: "p") where name.count == 5:  // :path
            if value.count > limits.uriBytes {
                fault = .targetTooLong
            } else {
                path.append(value)
            }
        case UInt8(ascii: "p"): connectProtocol = [UInt8](copying: value)
        case UInt8(ascii: "s") where name.count == 7:  // :status
            for index in value.indices { status = status * 10 + Int(value[index] &- Byte.zero) }
        default: break  // :scheme says nothing that the connection does not.
        }
    }

    /// Completes the fields of a head or a trailer section.
    mutating func finish() {
        guard !cookie.isEmpty else { return }
        let joined = cookie
        cookie = []
        fields.append(
            checkedName: "cookie".utf8.span, value: joined.span, isNeverIndexed: isCookieNeverIndexed)
    }

    // MARK: Requests

    /// Fills the head of a request: the target in the form that HTTP/1.1 has for it, `Host` from `:authority`.
    mutating func fill(_ request: inout HTTPRequest) {
        request.version = .http2
        request.method = HTTPMethod(rawValue: String(decoding: method, as: UTF8.self))
        let longestMethod = 32
        if method.count > longestMethod { fault = fault ?? .methodTooLong }
        judgeHost()
        request.targetBytes = request.method == .connect && connectProtocol == nil ? authority ?? [] : path
        if !request.method.isNeverForwarded || connectProtocol != nil { judgePath(request.method) }
        judgeLength()
        request.fields = fields
    }

    /// Writes the length in its shortest form.
    ///
    /// A CONNECT has no content (RFC 9113 §8.5), and nghttp2 does not compare its length with what comes: in HTTP/1.1 the
    /// length would announce a body that nobody sends.
    private mutating func judgeLength() {
        guard case .once(let digits) = fields.occurrence(of: .contentLength) else { return }
        if connectProtocol != nil {
            fault = fault ?? .breaking(rule: "Content-Length in an extended CONNECT")
        } else if digits.count > 1, fields.block.bytes[digits.lowerBound] == Byte.zero,
            let length = fields.checkedContentLength
        {
            fields[.contentLength] = String(length)
        }
    }

    private mutating func judgeHost() {
        switch fields.occurrence(of: .host) {
        case .none: break
        case .once(let host):
            let isAgreed =
                authority.map { Authority.agree(fields.block.bytes.span.extracting(host), $0.span) } ?? true
            if !isAgreed { fault = fault ?? .malformed }
        case .repeated: fault = fault ?? .malformed
        }
        if let authority { fields.putHostFirst(authority.span) }
        guard let host = fields.bytes(of: .host), !host.isEmpty, Authority.isValid(host.span) else {
            fault = fault ?? .malformed
            return
        }
    }

    private mutating func judgePath(_ method: HTTPMethod) {
        guard fault == nil else { return }
        let isWhole = path == [Byte.asterisk] && method == .options
        guard isWhole || path.first == Byte.slash, path.allSatisfy(\.isTargetCharacter) else {
            fault = .malformed
            return
        }
    }
}

extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self = []
        append(bytes)
    }

    mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
