// SPDX-License-Identifier: Apache-2.0

/// The messages of `grpc.health.v1.Health`, as far as they are needed.
enum HealthMessage {
    /// `HealthCheckResponse.ServingStatus`.
    enum Status: UInt8 {
        case serving = 1
        case serviceUnknown = 3
    }

    /// The bytes before a message: whether it is compressed, and its length.
    private static let prefixCount = 5

    /// The `service` of a `HealthCheckRequest`, from the only message of a request.
    ///
    /// - Returns: nil if that is no whole message, is compressed, or is not of this type.
    static func service(in body: [UInt8]) -> String? {
        guard body.count >= prefixCount, body[0] == 0 else { return nil }
        let length = body[1..<prefixCount].reduce(0) { $0 << 8 | Int($1) }
        guard length == body.count - prefixCount else { return nil }
        var rest = body[prefixCount...]
        var name: ArraySlice<UInt8> = []
        while !rest.isEmpty {
            guard let tag = number(from: &rest), let value = value(ofType: tag & 7, from: &rest) else {
                return nil
            }
            // The field `service` has the number 1 and is a string.
            if tag == 1 << 3 | 2 { name = value }
        }
        return String(validating: name, as: UTF8.self)
    }

    /// A `HealthCheckResponse` as a message on the wire.
    static func response(_ status: Status) -> [UInt8] { [0, 0, 0, 0, 2, 1 << 3, status.rawValue] }

    /// A number of seven bits a byte, at most 64 of them.
    private static func number(from bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }

    /// The bytes of a field's value, without a length.
    private static func value(ofType type: UInt64, from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>?
    {
        let count: UInt64
        switch type {
        case 0: return number(from: &bytes).map { _ in [] }
        case 1: count = 8
        case 2:
            guard let length = number(from: &bytes) else { return nil }
            count = length
        case 5: count = 4
        default: return nil
        }
        guard count <= UInt64(bytes.count) else { return nil }
        defer { bytes.removeFirst(Int(count)) }
        return bytes.prefix(Int(count))
    }
}
