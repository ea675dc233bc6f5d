// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Fields of gRPC messages over HTTP/2.
extension HTTPFields {
    /// True for a gRPC request: its `Content-Type` is `application/grpc`, alone or followed by a codec or parameters.
    ///
    /// gRPC-Web, `application/grpc-web`, is another protocol.
    package var areOfGRPC: Bool {
        has(.contentType) && isOfGRPC(firstRange(of: .contentType))
    }

    private func isOfGRPC(_ value: Range<Int>) -> Bool {
        let length = 16
        guard value.count >= length else { return false }
        let bytes = block.bytes.span
        // "application/grpc" as two words; setting the bit 0x20 makes letters lower-case, and no other byte one of these but a
        // control byte, which no value has.
        let lowerCase: UInt64 = 0x2020_2020_2020_2020
        guard bytes.word(at: value.lowerBound) | lowerCase == 0x7461_6369_6C70_7061,
            bytes.word(at: value.lowerBound + 8) | lowerCase == 0x6370_7267_2F6E_6F69
        else { return false }
        guard value.count > length else { return true }
        let next = bytes[value.lowerBound + length]
        return next == Byte.plus || next == Byte.semicolon
    }

    /// The status of a call (`grpc-status`), in its trailers or in the head that is all of an answer; nil without one.
    ///
    /// Of several the last one counts, as it does for the libraries of callers.
    package var grpcStatus: Int? {
        let nameLength = 11
        let all = entries.memory.span
        for index in (0..<entries.count).reversed()
        where all[index].number == 0 && all[index].nameLength == nameLength
            && matches(all[index], .grpcStatus)
        {
            return number(in: all[index].valueRange)
        }
        return nil
    }

    private func number(in digits: Range<Int>) -> Int? {
        guard (1...9).contains(digits.count) else { return nil }
        var number = 0
        for index in digits {
            let byte = block.bytes[index]
            guard byte.isDigit else { return nil }
            number = number * 10 + Int(byte &- Byte.zero)
        }
        return number
    }
}

extension HTTPFields.Name {
    /// The status of a call of gRPC.
    package static let grpcStatus = Self(known: "grpc-status")
    /// The reason of a call's status, percent-encoded.
    package static let grpcMessage = Self(known: "grpc-message")
}

/// Statuses of gRPC calls.
package enum GRPCStatus {
    /// UNAUTHENTICATED: the credentials of the call are missing or not valid.
    package static let unauthenticated = 16
    /// DEADLINE_EXCEEDED: it took too long.
    package static let deadlineExceeded = 4
    /// PERMISSION_DENIED: the caller may not do that.
    package static let permissionDenied = 7
    /// RESOURCE_EXHAUSTED: a limit is reached.
    package static let resourceExhausted = 8
    /// UNIMPLEMENTED: there is no such method here.
    package static let unimplemented = 12
    /// INTERNAL: the call cannot be understood.
    package static let internalError = 13
    /// UNAVAILABLE: the service cannot be reached now; trying again may help.
    package static let unavailable = 14
}
