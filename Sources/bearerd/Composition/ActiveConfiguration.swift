// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdProxy

/// A configuration, and what was made of it: all that is in force of it and that a reload replaces.
struct ActiveConfiguration {
    let configuration: Configuration
    let engine: Engine
    /// The data listeners, in the configuration's order.
    let listeners: [(key: ListenerKey, listener: BoundListener)]
    /// The TCP listeners' certificate; nil where they are plain.
    let certificate: CertificateWatch?
    /// The keys, any of which clients of the data listeners must send; none where they need nothing.
    let accessKeys: [KeyWatch]
    /// What callers of the admin listener must send; nil where they need nothing.
    let adminKey: KeyWatch?
    /// Records traces; nil where no configuration so far had a collector.
    let tracing: Tracing?
    /// Has made the snapshot that the workers serve by.
    var composer = RoutingComposer()
}
