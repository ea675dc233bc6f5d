// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdProxy

/// A configuration with everything made from it that a reload replaces.
struct ActiveConfiguration {
    let configuration: Configuration
    let sessions: ConfiguredSessions
    /// The data listeners, in the configuration's order.
    let listeners: [(key: ListenerKey, listener: BoundListener)]
    /// The certificate of the TCP listeners; nil if they are plain.
    let certificate: CertificateWatch?
    /// The keys, any of which clients of the data listeners must send; none where they need nothing.
    let accessKeys: [KeyWatch]
    /// The key that callers of the admin listener must send; nil if they need none.
    let adminKey: KeyWatch?
    /// Records traces; nil until a configuration has a collector.
    let tracing: Tracing?
    /// Makes the snapshots for the workers.
    var composer = RoutingComposer()
}
