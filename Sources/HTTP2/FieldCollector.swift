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

    var method: [UInt8] = []
    var path: [UInt8] = []
    var authority: [UInt8]?
    var connectProtocol: [UInt8]?
    var status = 0

    mutating func begin() { self = FieldCollector() }

    /// Takes one field.
    mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: HeadLimits) {
        size += name.count + value.count + 32
        if size > limits.headerBytes || fields.count >= limits.maxFields { fault = fault ?? .headTooLarge }
        guard !name.isEmpty, name[0] == Byte.colon else {
            if fault == nil { takeField(name, value) }
            return
        }
        takePseudoField(name, value, limits)
    }

    private mutating func takeField(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        // Crumbs are one field anywhere but in HTTP/2 (RFC 9113 §8.2.3).
        if KnownFieldName.find(in: name, 0..<name.count) == .cookie {
            if !cookie.isEmpty { cookie.append(contentsOf: [Byte.semicolon, Byte.space]) }
            cookie.append(value)
            return
        }
        fields.append(checkedName: name, value: value)
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
        fields.append(checkedName: "cookie".utf8.span, value: joined.span)
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
        request.fields = fields
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
