// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPRequest {
    /// Validates `Host` and the target's form (RFC 9112 §3.2), and turns absolute-form into origin-form.
    ///
    /// - Parameter known: the last `Host` that was found valid, which most requests of a connection repeat.
    mutating func checkHostAndTarget(knowing known: inout [UInt8]) throws(HTTPParseError) {
        switch fields.occurrence(of: .host) {
        case .none: guard version == .http10 else { throw .missingHost }
        case .once(let host):
            let bytes = fields.block.bytes.span.extracting(host)
            if host.isEmpty || bytes.equals(known.span) { break }
            guard Authority.isValid(bytes) else { throw .malformedHost }
            if host.count <= Self.longestKnownHost { known.replaceAll(with: bytes) }
        case .repeated: throw .repeatedHost
        }
        guard let first = targetBytes.first, first != Byte.slash else { return }
        guard !method.isNeverForwarded else { return }  // Refused by the proxy whatever its target.
        if targetBytes.count == 1, first == Byte.asterisk {
            guard method == .options else { throw .malformedTarget }
            return
        }
        try takeAuthorityOutOfTarget()
    }

    /// A longer one is judged each time: a connection does not hold it.
    private static var longestKnownHost: Int { 256 }

    /// Turns `http://host/path` into `/path`; `Host` gets the authority as the target spells it.
    private mutating func takeAuthorityOutOfTarget() throws(HTTPParseError) {
        guard let (start, defaultPort) = Self.authorityStart(targetBytes.span) else { throw .malformedTarget }
        let end =
            targetBytes[start...].firstIndex { $0 == Byte.slash || $0 == Byte.questionMark }
            ?? targetBytes.count
        let authority = targetBytes[start..<end]
        guard Authority.isValid(authority.span) else { throw .malformedTarget }
        if let host = fields.bytes(of: .host) {
            guard Authority.agree(host.span, authority.span, defaultPort: defaultPort) else {
                throw .conflictingHost
            }
        }
        fields.replace(.host, with: authority.span)
        if end < targetBytes.count, targetBytes[end] == Byte.slash {
            targetBytes.removeSubrange(..<end)
        } else {
            let isWholeServer = method == .options && end == targetBytes.count
            targetBytes.replaceSubrange(
                ..<end, with: CollectionOfOne(isWholeServer ? Byte.asterisk : Byte.slash))
        }
    }

    /// - Returns: where the authority of an absolute-form begins, and the port that its scheme has by itself.
    private static func authorityStart(_ target: Span<UInt8>) -> (start: Int, defaultPort: UInt16)? {
        for (scheme, port) in [("http://", UInt16(80)), ("https://", 443)] {
            let length = scheme.utf8.count
            if target.count > length, target.equalsIgnoringCase(0..<length, scheme) { return (length, port) }
        }
        return nil
    }
}
