// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdDevelopmentProvider
import BearerdProxy

/// Another configuration that can be put in force without a step that may fail.
struct PreparedReload {
    let files: PreparedFiles
    /// The new parts of the configuration.
    let active: ActiveConfiguration
    let snapshot: RoutingSnapshot
    /// The collector of traces; nil for none.
    let collector: TraceExporter.Destination?
    /// The hooks for changes of state, if their commands have changed.
    let hooks: (isChanged: Bool, new: StateChangeHooks?)
    /// The clients of the embedded provider.
    let developmentClients: [DevelopmentClient]
}
