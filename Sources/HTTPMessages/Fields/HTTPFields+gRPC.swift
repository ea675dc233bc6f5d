// SPDX-License-Identifier: Apache-2.0

/// Fields of gRPC messages over HTTP/2.
extension HTTPFields {
    /// True for a gRPC request: its `Content-Type` is `application/grpc`, alone or followed by a codec or parameters.
    ///
    /// gRPC-Web, `application/grpc-web`, is another protocol.
    package var areOfGRPC: Bool {
        guard let value = bytes(of: .contentType) else { return false }
        let name = "application/grpc".utf8
        guard value.prefix(name.count).elementsEqual(name, by: { $0.asciiLowercased == $1 }) else {
            return false
        }
        let rest = value.dropFirst(name.count).first
        return rest == nil || rest == UInt8(ascii: "+") || rest == UInt8(ascii: ";")
    }

    /// The status of a call (`grpc-status`), in its trailers or in the head that is all of an answer; nil without one.
    package var grpcStatus: Int? { self[.grpcStatus].flatMap { Int($0) } }
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
