// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Error responses to gRPC calls.
extension RejectionCode {
    /// The status with which a call fails; never 16, which only an upstream can know.
    var grpcStatus: Int {
        switch self {
        case .upstreamTimeout, .requestTimeout: GRPCStatus.deadlineExceeded
        case .accessDenied, .policyDenied, .wrongHost: GRPCStatus.permissionDenied
        case .bodyTooLarge, .headersTooLarge, .uriTooLong, .rateLimited: GRPCStatus.resourceExhausted
        case .noRoute, .methodNotAllowed, .notImplemented: GRPCStatus.unimplemented
        case .badRequest, .loopDetected, .versionNotSupported: GRPCStatus.internalError
        case .draining, .loginRequired, .misconfigured, .providerUnavailable, .upstreamBusy,
            .upstreamConnect, .upstreamProtocol, .upstreamTLS:
            GRPCStatus.unavailable
        }
    }
}

extension Rejection {
    /// The head of a response to a gRPC call, without content: 200, and the failure in `grpc-status` and `grpc-message`.
    var callHead: HTTPResponse {
        var head = HTTPResponse(status: 200)
        head.fields[.contentType] = "application/grpc"
        head.fields[.grpcStatus] = String(code.grpcStatus)
        head.fields[.grpcMessage] = Self.percentEncoded(detail)
        head.fields[.proxyStatus] = "bearerd; error=\(proxyStatus)"
        return head
    }

    /// The trailers that end a gRPC call whose response has begun.
    var callTrailers: HTTPFields {
        var trailers = HTTPFields()
        trailers[.grpcStatus] = String(code.grpcStatus)
        trailers[.grpcMessage] = Self.percentEncoded(detail)
        return trailers
    }

    /// A message as gRPC has it on the wire: printable ASCII apart from `%`, everything else percent-encoded.
    private static func percentEncoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if (0x20...0x7E).contains(byte), byte != Byte.percent {
                encoded.append(byte)
            } else {
                encoded.append(Byte.percent)
                encoded.append(Byte.hexadecimalDigit(byte >> 4))
                encoded.append(Byte.hexadecimalDigit(byte & 0xF))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
