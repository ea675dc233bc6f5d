// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

/// The decision on a request to a small service, made from its head.
package enum ServiceJudgement: Sendable {
    /// The request is answered with this reply, whatever its body.
    case refused(ServiceReply)
    case accepted(ServiceAcceptance)

    /// Accepts a request that needs no body.
    ///
    /// - Parameters:
    ///   - isProbe: true for requests that are answered even while the service is at its limit.
    ///   - answer: runs on the service's loop and must not block it.
    package static func answered(
        isProbe: Bool = false, by answer: @escaping @Sendable () async -> ServiceReply
    ) -> ServiceJudgement {
        .accepted(ServiceAcceptance(bodyLimit: 0, isProbe: isProbe) { _ in await answer() })
    }

    /// Accepts a request whose body, of at most 64 KiB, is needed.
    ///
    /// - Parameter answer: gets the body; runs on the service's loop and must not block it.
    package static func answered(
        withBody answer: @escaping @Sendable (_ body: [UInt8]) async -> ServiceReply
    ) -> ServiceJudgement {
        .accepted(ServiceAcceptance(bodyLimit: ServiceLimits.bodyBytes, isProbe: false, answer: answer))
    }
}

/// The way in which an accepted request is answered.
package struct ServiceAcceptance: Sendable {
    /// The largest body in bytes; 0 means that none is read.
    package let bodyLimit: UInt64
    /// True for requests that are answered even while the service is at its limit.
    package let isProbe: Bool
    /// Makes the reply from the body.
    package let answer: @Sendable (_ body: [UInt8]) async -> ServiceReply
}

/// The reason why a request to a small service could not be received.
package enum ServiceRefusal: Equatable, Sendable {
    case malformed(MessageFault)
    /// The request did not arrive completely in time.
    case timedOut
    case bodyTooLarge
    /// Too many other requests are being answered.
    case busy

    /// The rule that the request breaks, in a few words; nil where none is known.
    package var rule: String? {
        if case .malformed(.breaking(let rule)) = self { rule } else { nil }
    }

    /// The status of the answer.
    package var status: Int {
        switch self {
        case .malformed(let fault): fault.status
        case .timedOut: 408
        case .bodyTooLarge: 413
        case .busy: 503
        }
    }
}
