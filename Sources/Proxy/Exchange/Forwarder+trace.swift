// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPClient
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting
internal import OAuth

/// Tracing of the requests that are sampled; others never get here.
extension Forwarder {
    /// Begins a trace if the request is sampled.
    func beginTrace(of exchange: Exchange) {
        exchange.trace = worker.tracer?.begin(
            exchange.client.request.fields, at: exchange.record.startedAt.continuous)
    }

    /// Tells the upstream in `traceparent` which span the request belongs to.
    func beginSend(of exchange: Exchange, _ trace: RequestTrace) {
        guard let identifier = worker.tracer?.nextIdentifier(), let context = trace.beginSend(identifier)
        else {
            return
        }
        let client = exchange.client
        client.request.fields[.traceparent] = context.fieldValue
        // The field would speak of another vendor's trace.
        if trace.hasForeignState { client.request.fields.remove(.tracestate) }
    }

    /// Records a sending that brought no response, or one that broke off.
    ///
    /// It is an error only where the upstream, or the way to it, is at fault.
    ///
    /// - Parameter status: of the head that had come; 0 for none.
    func endSend(of exchange: Exchange, _ trace: RequestTrace, _ error: ProxyError, status: Int) {
        let cause = exchange.isClientGone ? .clientGone : reported(error)
        let failure = UpstreamFailure(cause, hasHead: status > 0)
        trace.endSend(status: status > 0 ? status : nil, errorType: failure?.label.label)
    }

    /// Exports the spans of a request that is over.
    func export(_ trace: RequestTrace, of exchange: Exchange) {
        let client = exchange.client
        var request = TracedRequest(
            method: client.request.method, version: client.request.version, scheme: exchange.clientScheme,
            target: exchange.originalTarget.isEmpty ? client.request.targetBytes : exchange.originalTarget,
            peer: client.peer.text, status: exchange.record.status, abortReason: exchange.record.abortReason)
        if let plan = exchange.route?.plan {
            request.route = plan.key.path
            request.identity = plan.session?.identity
            request.upstream = plan.upstream.address.url
        }
        worker.tracer?.settings.queue.take(trace.spans(of: request))
    }

    /// Records that the request waits for a token, so that the refresh's span can link to it.
    func waitBegins(of exchange: Exchange, for identity: String) {
        guard let trace = exchange.trace else { return }
        worker.tracer?.settings.links.add(trace.context, waitingFor: identity)
    }

    /// Records that the request no longer waits for a token.
    func waitEnds(of exchange: Exchange, for identity: String) {
        guard let trace = exchange.trace else { return }
        worker.tracer?.settings.links.remove(trace.context, waitingFor: identity)
    }
}
