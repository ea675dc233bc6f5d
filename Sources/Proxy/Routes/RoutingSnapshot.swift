// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange
package import BearerdHTTPMessages
package import BearerdObservability

/// The part of a configuration that concerns requests, as one immutable value: routes, access, limits,
/// time-outs.
///
/// Workers replace it by replacing one reference, and a request ends under the snapshot under which it began.
/// State that outlives a snapshot (upstream connections, views of tokens, counts) belongs to the workers.
package final class RoutingSnapshot: Sendable {
    /// A number that is unique in the process and grows with each snapshot.
    package let version: Int
    let routes: [PreparedRoute]
    package let access: AccessPolicy
    package let listeners: [ListenerPolicy]
    /// The status page, where the configuration is in no file that a command could be given.
    let pageInPlaceOfCommands: String?
    package let headLimits: HeadLimits
    /// HTTP/2 streams at a time on a client's connection.
    package let streams: Int
    /// nil for no limit.
    package let bodyLimit: UInt64?
    package let serverTimeouts: ServerTimeouts
    package let accessStyle: AccessLogStyle
    /// The output for access lines; nil turns them off.
    package let accessLog: (any LineSink)?
    /// The output for audit lines; nil turns them off.
    package let audit: (any AuditSink)?
    /// The settings for tracing; nil turns it off.
    package let tracing: TracingSettings?

    package init(
        version: Int, routes: [PreparedRoute], access: AccessPolicy, listeners: [ListenerPolicy],
        headLimits: HeadLimits = HeadLimits(), streams: Int = 100, bodyLimit: UInt64? = nil,
        serverTimeouts: ServerTimeouts = ServerTimeouts(), accessStyle: AccessLogStyle = AccessLogStyle(),
        accessLog: (any LineSink)? = nil, audit: (any AuditSink)? = nil,
        tracing: TracingSettings? = nil, pageInPlaceOfCommands: String? = nil
    ) {
        self.version = version
        self.routes = routes
        self.access = access
        self.listeners = listeners
        self.headLimits = headLimits
        self.streams = streams
        self.bodyLimit = bodyLimit
        self.serverTimeouts = serverTimeouts
        self.accessStyle = accessStyle
        self.accessLog = accessLog
        self.audit = audit
        self.tracing = tracing
        self.pageInPlaceOfCommands = pageInPlaceOfCommands
    }
}
