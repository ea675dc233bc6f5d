// SPDX-License-Identifier: Apache-2.0

/// How bearerd itself ended an exchange, which no upstream did.
enum OwnEnding: Equatable {
    /// With an answer of its own.
    case rejected(RejectionCode)
    /// Without an answer: nobody is left who would read it.
    case clientGone
    /// In the middle of an answer that does not come whole.
    case truncated
    /// A stream without end, because its route was taken away.
    case routeGone
    /// A stream without end, because its client may not have it any more.
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
