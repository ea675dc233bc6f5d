// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPFields {
    /// The framing that the fields declare, nil if they declare none, or their fault.
    func judgedFraming(_ version: HTTPVersion) -> Result<BodyFraming?, HTTPParseError> {
        Result { () throws(HTTPParseError) in try framing(version) }
    }

    /// Removes leading zeros from the length: a reader might take it for octal, or count its digits.
    mutating func shortenContentLength() {
        let digits = firstRange(of: .contentLength)
        guard digits.count > 1, block.bytes[digits.lowerBound] == Byte.zero,
            let index = entries.firstIndex(where: { $0.known == .contentLength })
        else { return }
        while entries[index].valueLength > 1, block.bytes[Int(entries[index].valueStart)] == Byte.zero {
            entries[index].valueStart += 1
            entries[index].valueLength -= 1
            entries[index].isCanonical = false
        }
    }

    private func framing(_ version: HTTPVersion) throws(HTTPParseError) -> BodyFraming? {
        if has(.transferEncoding) {
            guard !has(.contentLength) else { throw .conflictingFraming }
            guard version == .http11 else { throw .transferEncodingInHTTP10 }
            try checkTransferEncoding()
            return .chunked
        }
        guard has(.contentLength) else { return nil }
        return try .length(contentLength())
    }

    /// Parses the one line of digits (RFC 9110 §8.6); lists are refused, even of equal numbers.
    private func contentLength() throws(HTTPParseError) -> UInt64 {
        guard case .once(let digits) = occurrence(of: .contentLength) else { throw .repeatedContentLength }
        guard !digits.isEmpty else { throw .malformedContentLength }
        let bytes = block.bytes.span.extracting(digits)
        var length: UInt64 = 0
        for index in 0..<bytes.count {
            // With one more digit it stays within 64 bits.
            guard bytes[index].isDigit, length <= UInt64(Int64.max) / 10 else {
                throw .malformedContentLength
            }
            length = length &* 10 &+ UInt64(bytes[index] &- Byte.zero)
        }
        guard length <= UInt64(Int64.max) else { throw .malformedContentLength }
        return length
    }

    /// Accepts exactly one `chunked`, in any case and without parameters.
    private func checkTransferEncoding() throws(HTTPParseError) {
        var chunked = 0
        var isLast = false
        var hasUnknown = false
        let bytes = block.bytes.span
        for entry in entries where entry.known == .transferEncoding {
            var start = entry.valueRange.lowerBound
            let end = entry.valueRange.upperBound
            while start <= end {
                let comma = bytes.firstIndex(of: Byte.comma, in: start..<end) ?? end
                let coding = bytes.trimmingOptionalWhitespace(start..<comma)
                let name = bytes.tokenPrefix(of: coding)
                guard !name.isEmpty else { throw .malformedTransferEncoding }
                isLast = bytes.equalsIgnoringCase(name, "chunked")
                if isLast { chunked += 1 } else { hasUnknown = true }
                let hasParameters = name.count < coding.count
                guard !hasParameters || !isLast && bytes[name.upperBound] == Byte.semicolon else {
                    throw .malformedTransferEncoding
                }
                start = comma &+ 1
            }
        }
        guard chunked <= 1, chunked == 0 || isLast else { throw .malformedTransferEncoding }
        guard !hasUnknown else { throw .unknownTransferCoding }
    }
}

extension Span<UInt8> {
    fileprivate func tokenPrefix(of range: Range<Int>) -> Range<Int> {
        var end = range.lowerBound
        while end < range.upperBound, self[end].isTokenCharacter { end &+= 1 }
        return range.lowerBound..<end
    }
}
