// SPDX-License-Identifier: Apache-2.0

/// A small service, which first judges the head of a request and then answers the request.
package protocol HTTPResponder: Sendable {
    /// Accepts or refuses a request whose body has not been received; runs on the service's loop and must not
    /// block it.
    ///
    /// Everything that can be refused without the body is refused here.
    func judge(_ request: ServiceRequest) async -> ServiceJudgement

    /// The answer to a request that could not be received.
    func refusal(_ reason: ServiceRefusal) -> ServiceReply
}

extension HTTPResponder {
    package func refusal(_ reason: ServiceRefusal) -> ServiceReply { ServiceReply(refusing: reason) }

    /// Judges a complete request and answers it.
    package func respond(to request: ServiceRequest) async -> ServiceReply {
        switch await judge(request) {
        case .refused(let reply): reply
        case .accepted(let acceptance): await acceptance.answer(request.body)
        }
    }
}
