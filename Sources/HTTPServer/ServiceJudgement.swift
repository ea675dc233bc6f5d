// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

/// What becomes of a request to a small service, by its head.
package enum ServiceJudgement: Sendable {
    /// This is the answer, whatever the body would have been.
    case refused(ServiceReply)
    case accepted(ServiceAcceptance)

    /// Accepts a request that needs no body.
    ///
    /// - Parameters:
    ///   - isProbe: whether it is answered also when the service is as busy as it may be.
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

/// How a request to a small service is answered.
package struct ServiceAcceptance: Sendable {
    /// How large a body is taken, in bytes; 0 takes none.
    package let bodyLimit: UInt64
    /// Whether it is answered also when the service is as busy as it may be.
    package let isProbe: Bool
    /// Makes the answer from the body.
    package let answer: @Sendable (_ body: [UInt8]) async -> ServiceReply
}

/// Why a request to a small service could not be received.
package enum ServiceRefusal: Equatable, Sendable {
    case malformed(MessageFault)
    /// It did not come whole in time.
    case timedOut
    case bodyTooLarge
    /// Too many others are being answered.
    case busy

    /// The status that says so.
    package var status: Int {
        switch self {
        case .malformed(let fault): fault.status
        case .timedOut: 408
        case .bodyTooLarge: 413
        case .busy: 503
        }
    }
}
