// SPDX-License-Identifier: Apache-2.0

/// A field of an access line that can be chosen (`log.access_fields`); what every line of the log has (time, level, message)
/// is not among them.
package enum AccessField: String, CaseIterable, Sendable {
    case requestID = "request_id"
    case method
    case route
    case identity
    case path
    case `protocol`
    case status
    /// Where the answer is not the upstream's own.
    case code
    /// Where the answer is not the upstream's own.
    case upstream
    case bytesIn = "bytes_in"
    case bytesOut = "bytes_out"
    case duration = "duration_seconds"
    /// Where the request was sent again.
    case replayed
    case grpcStatus = "grpc_status"
    case peer
}
