// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange
package import BearerdHTTPMessages
package import BearerdObservability

/// All that a configuration says of requests, as one value that never changes: routes, access, limits, time-outs.
///
/// Workers swap one for the next as one reference, and a request ends with the one that it began with. What outlives a
/// snapshot (connections to upstreams, views of tokens, counts) belongs to the workers, who find it by what it is for.
package final class RoutingSnapshot: Sendable {
    /// Different for each of a process.
    package let version: Int
    let routes: [PreparedRoute]
    package let access: AccessPolicy
    package let listeners: [ListenerPolicy]
    package let headLimits: HeadLimits
    /// `nil` for no limit.
    package let bodyLimit: UInt64?
    package let serverTimeouts: ServerTimeouts
    package let accessStyle: AccessLogStyle
    /// Where access lines go; `nil` turns them off.
    package let accessLog: (any LineSink)?
    /// Where lines of the audit go; `nil` without one.
    package let audit: (any AuditSink)?
    /// What is traced; `nil` for nothing.
    package let tracing: TracingSettings?

    package init(
        version: Int, routes: [PreparedRoute], access: AccessPolicy, listeners: [ListenerPolicy],
        headLimits: HeadLimits = HeadLimits(), bodyLimit: UInt64? = nil,
        serverTimeouts: ServerTimeouts = ServerTimeouts(), accessStyle: AccessLogStyle = AccessLogStyle(),
        accessLog: (any LineSink)? = nil, audit: (any AuditSink)? = nil,
        tracing: TracingSettings? = nil
    ) {
        self.version = version
        self.routes = routes
        self.access = access
        self.listeners = listeners
        self.headLimits = headLimits
        self.bodyLimit = bodyLimit
        self.serverTimeouts = serverTimeouts
        self.accessStyle = accessStyle
        self.accessLog = accessLog
        self.audit = audit
        self.tracing = tracing
    }
}
