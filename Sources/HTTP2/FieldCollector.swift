// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdSystem

/// One header list or trailer section on its way in, field by field, bounded by the limits on heads.
///
/// nghttp2 has judged names, values and the order of pseudo-fields (RFC 9113 §8.2, §8.3) before anything comes here. Its
/// memory is used again for each head.
struct FieldCollector {
    /// The fields once the list is complete; `Host` comes first where it is said by `:authority`.
    private var fields = HTTPFields()
    /// The fault of the list: a limit that it exceeds, or a malformed field; the first one counts, but that of the target goes before it.
    private(set) var fault: MessageFault?
    private var hasFault = false
    private let names = KnownFieldName.table
    /// The decoded size (RFC 9113 §6.5.2).
    private(set) var size = 0
    private var cookie: [UInt8] = []
    private var isCookieNeverIndexed = false

    /// The method; empty before it has come.
    private(set) var method = HTTPMethod(rawValue: "")
    private let noMethod = HTTPMethod(rawValue: "")
    private var path: [UInt8] = []
    /// True if ``path`` is that of this head.
    private var hasPath = false
    private var hasAuthority = false
    /// True if `:authority` is ``validHost``.
    private var isAuthorityValid = false
    /// How many fields named `Host` there are, beside `:authority`.
    private var hostCount = 0
    /// The port that the request's scheme has by itself.
    private var defaultPort: UInt16 = 80
    /// False if one of them names another host than `:authority`.
    private var hostsAgree = true
    private(set) var connectProtocol: [UInt8]?
    /// The value of `:status` if it has three digits; negative without one.
    private(set) var status = -1
    /// The last host that was found well-formed; clients seldom change it.
    private var validHost: [UInt8] = []

    mutating func begin() {
        if hasFault { fault = nil }
        hasFault = false
        size = 0
        if !cookie.isEmpty { cookie = [] }
        isCookieNeverIndexed = false
        method = noMethod
        hasPath = false
        hasAuthority = false
        isAuthorityValid = false
        hostCount = 0
        hostsAgree = true
        defaultPort = 80
        if connectProtocol != nil { connectProtocol = nil }
        status = -1
    }

    private mutating func fail(_ fault: MessageFault) {
        if !hasFault { replaceFault(fault) }
    }

    private mutating func replaceFault(_ fault: MessageFault) {
        hasFault = true
        self.fault = fault
    }

    /// Takes one field.
    ///
    /// - Parameters:
    ///   - isNeverIndexed: true if it may be in no table on its way (RFC 7541 §6.2.3).
    ///   - lines: gets the field's line; ``finish(_:)`` takes all of them.
    /// - Returns: the decoded size of all so far.
    @inline(__always)
    mutating func take(
        _ name: Span<UInt8>, _ value: Span<UInt8>, isNeverIndexed: Bool, _ limits: HeadLimits,
        into lines: GatheredLines
    ) -> Int {
        size += name.count + value.count + 32
        if size > limits.headerBytes { fail(.headTooLarge) }
        if lines.count >= limits.maxFields { fail(.tooManyFields) }
        if !name.isEmpty, name[0] == Byte.colon {
            takePseudoField(name, value, limits, into: lines)
        } else {
            takeField(name, value, isNeverIndexed: isNeverIndexed, into: lines)
        }
        return size
    }

    @inline(__always)
    private mutating func takeField(
        _ name: Span<UInt8>, _ value: Span<UInt8>, isNeverIndexed: Bool, into lines: GatheredLines
    ) {
        let number = names.find(in: name, 0..<name.count)
        // Of what is refused, the type alone counts: gRPC has errors of its own.
        guard !hasFault || (number == KnownFieldName.contentType.rawValue && !lines.has(.contentType)) else {
            return
        }
        if number == KnownFieldName.cookie.rawValue {
            // Crumbs are one field anywhere but in HTTP/2 (RFC 9113 §8.2.3).
            isCookieNeverIndexed = isCookieNeverIndexed || isNeverIndexed
            if !cookie.isEmpty { cookie.append(contentsOf: [Byte.semicolon, Byte.space]) }
            return cookie.append(value)
        }
        if number == KnownFieldName.host.rawValue {
            hostCount += 1
            if hasAuthority {
                hostsAgree = hostsAgree && agreesWithAuthority(value, in: lines)
                return
            }
        }
        lines.append(name, value, number: number, isNeverIndexed: isNeverIndexed)
    }

    private func agreesWithAuthority(_ host: Span<UInt8>, in lines: GatheredLines) -> Bool {
        lines.isTrue(of: .host) { Authority.agree($0, host, defaultPort: defaultPort) }
    }

    private mutating func takePseudoField(
        _ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: HeadLimits, into lines: GatheredLines
    ) {
        switch name[1] {
        case UInt8(ascii: "m"): method = HTTPMethod(copying: value)
        case UInt8(ascii: "a"):
            hasAuthority = true
            isAuthorityValid = !value.isEmpty && value.equals(validHost.span)
            lines.append(
                "host".utf8.span, value, number: KnownFieldName.host.rawValue, isNeverIndexed: false)
        case UInt8(ascii: "p") where name.count == 5:  // :path
            if value.count > limits.uriBytes {
                replaceFault(.targetTooLong)
            } else {
                path.replaceAll(with: value)
                hasPath = true
            }
        case UInt8(ascii: "p"):  // :protocol, the name of one (RFC 8441 §4)
            connectProtocol = [UInt8](copying: value)
            if value.isEmpty || !value.indices.allSatisfy({ value[$0].isTokenCharacter }) { fail(.malformed) }
        case UInt8(ascii: "s") where name[2] == UInt8(ascii: "t"):  // :status, always of three digits
            status = 0
            for index in value.indices { status = status &* 10 &+ Int(value[index] &- Byte.zero) }
        // :scheme says nothing else that the connection does not.
        default: if value.count == 5, value.equals("https".utf8.span) { defaultPort = 443 }
        }
    }

    /// Completes the fields of a head or a trailer section, and takes their lines.
    mutating func finish(_ lines: GatheredLines) {
        if !cookie.isEmpty {
            lines.append(
                "cookie".utf8.span, cookie.span, number: KnownFieldName.cookie.rawValue,
                isNeverIndexed: isCookieNeverIndexed)
            cookie = []
        }
        lines.move(to: &fields)
    }

    // MARK: Responses

    /// The length that a head declares; nil without one.
    var declaredLength: UInt64? { fields.checkedContentLength }

    /// Gives the head of a response away, in exchange for memory.
    mutating func giveResponse(to queue: inout ResponseQueue) {
        queue.append(status: status, fields: &fields)
    }

    /// Gives the fields of a trailer section away, without those that none may have, in exchange for memory.
    mutating func giveTrailers(to trailers: inout HTTPFields) {
        swap(&trailers, &fields)
        trailers.removeForbiddenTrailers()
    }

    // MARK: Requests

    /// Fills the head of a request, in exchange for its memory: the target in the form that HTTP/1.1 has for it, `Host` from
    /// `:authority`.
    mutating func fill(_ request: inout HTTPRequest) {
        request.version = .http2
        request.method = method
        if isMethodTooLong { fail(.methodTooLong) }
        judgeHost()
        if !hasPath { path = [] }
        if case .connect = method, connectProtocol == nil {
            request.targetBytes = fields.bytes(of: .host).map { Array($0) } ?? []
        } else {
            judgePath()
            swap(&request.targetBytes, &path)
        }
        judgeLength()
        swap(&request.fields, &fields)
    }

    /// True if the method is longer than any may be.
    var isMethodTooLong: Bool {
        let longest = 32
        guard case .other(let name) = method else { return false }
        return name.utf8.count > longest
    }

    /// Writes the length in its shortest form.
    ///
    /// A CONNECT has no content (RFC 9113 §8.5), and nghttp2 does not compare its length with what comes: in HTTP/1.1 the
    /// length would announce a body that nobody sends.
    private mutating func judgeLength() {
        guard case .once(let digits) = fields.occurrence(of: .contentLength) else { return }
        if connectProtocol != nil {
            fail(.breaking(rule: "Content-Length in an extended CONNECT"))
        } else if digits.count > 1, fields.block.bytes[digits.lowerBound] == Byte.zero,
            let length = declaredLength
        {
            fields[.contentLength] = String(length)
        }
    }

    private mutating func judgeHost() {
        if hostCount > 1 { fail(.breaking(rule: "more than one Host")) }
        if !hostsAgree { fail(.breaking(rule: "the target's authority differs from Host")) }
        if isAuthorityValid { return }
        guard case .once(let host) = fields.occurrence(of: .host), !host.isEmpty, isValidHost(host) else {
            fail(.breaking(rule: "an authority that is no host and port"))
            return
        }
    }

    private mutating func isValidHost(_ range: Range<Int>) -> Bool {
        let bytes = fields.block.bytes
        return Self.isValid(bytes.span.extracting(range), or: &validHost)
    }

    /// - Parameter known: a host that is well-formed, replaced by this one if that is.
    private static func isValid(_ host: Span<UInt8>, or known: inout [UInt8]) -> Bool {
        if host.equals(known.span) { return true }
        guard Authority.isValid(host) else { return false }
        known.replaceAll(with: host)
        return true
    }

    private mutating func judgePath() {
        guard !hasFault, !method.isNeverForwarded || connectProtocol != nil else { return }
        let isWhole = path.count == 1 && path[0] == Byte.asterisk && method == .options
        guard isWhole || path.first == Byte.slash, isTarget(path.span) else {
            let hasFragment = path.contains(UInt8(ascii: "#"))
            let rule = hasFragment ? "a fragment (#) in the target" : "the target is no path"
            fail(.breaking(rule: rule))
            return
        }
    }

    private func isTarget(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where !bytes[index].isTargetCharacter { return false }
        return true
    }
}

extension HTTPMethod {
    /// - Parameter bytes: a token (RFC 9110 §5.6.2).
    fileprivate init(copying bytes: Span<UInt8>) {
        self =
            switch bytes.count {
            case 3 where bytes.equals("GET".utf8.span): .get
            case 4 where bytes.equals("POST".utf8.span): .post
            default:
                HTTPMethod(rawValue: bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
            }
    }
}

extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self = []
        append(bytes)
    }
}
