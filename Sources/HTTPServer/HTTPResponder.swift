// SPDX-License-Identifier: Apache-2.0

/// A small service: a request's head is judged, and then the request is answered.
package protocol HTTPResponder: Sendable {
    /// Says what becomes of a request, whose body has not come yet; runs on the service's loop and must not block it.
    ///
    /// Whatever can be refused without the body is refused here.
    func judge(_ request: ServiceRequest) async -> ServiceJudgement

    /// What a client gets whose request could not be received.
    func refusal(_ reason: ServiceRefusal) -> ServiceReply
}

extension HTTPResponder {
    package func refusal(_ reason: ServiceRefusal) -> ServiceReply { ServiceReply(refusing: reason) }

    /// Judges a request that is whole, and answers it.
    package func respond(to request: ServiceRequest) async -> ServiceReply {
        switch await judge(request) {
        case .refused(let reply): reply
        case .accepted(let acceptance): await acceptance.answer(request.body)
        }
    }
}
