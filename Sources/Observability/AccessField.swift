// SPDX-License-Identifier: Apache-2.0

/// A field of an access line that can be chosen in `log.access_fields`; time, level and message are always
/// present.
package enum AccessField: String, CaseIterable, Sendable {
    case requestID = "request_id"
    case method
    case route
    case identity
    case path
    case `protocol`
    case status
    /// Present if the response is bearerd's own.
    case code
    /// Present if the response is bearerd's own.
    case upstream
    case bytesIn = "bytes_in"
    case bytesOut = "bytes_out"
    case duration = "duration_seconds"
    /// Present if the request was sent again.
    case replayed
    case grpcStatus = "grpc_status"
    case peer
}
