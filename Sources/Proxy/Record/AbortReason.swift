// SPDX-License-Identifier: Apache-2.0

/// The reason why bearerd ended an exchange before the upstream's response was complete.
enum AbortReason: Equatable {
    /// With an error response or, once the upstream's has begun, for the reason of one.
    case rejected(RejectionCode)
    /// Without a response, because the client has left.
    case clientGone
    /// In the middle of a response, of which the upstream sent no more.
    case truncated
    /// By cutting an endless stream whose route was removed.
    case routeGone
    /// By cutting an endless stream that its client is no longer allowed.
    case accessGone

    /// The word for it in logs and traces.
    var word: String {
        switch self {
        case .rejected(let code): code.rawValue
        case .clientGone: "client_gone"
        case .truncated: "truncated"
        case .routeGone: "route_gone"
        case .accessGone: "access_gone"
        }
    }
}
