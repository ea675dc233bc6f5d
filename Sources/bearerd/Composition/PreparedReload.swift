// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdDevelopmentProvider
import BearerdProxy

/// Another configuration, ready to be put in force: nothing that may fail is left to do.
struct PreparedReload {
    let files: PreparedFiles
    /// Takes the place of what is in force.
    let active: ActiveConfiguration
    let snapshot: RoutingSnapshot
    /// Where traces go from then on; nil where they go nowhere.
    let collector: TraceExporter.Destination?
    /// Runs on changes of state, where the commands are not those of before.
    let hooks: (isChanged: Bool, new: StateChangeHooks?)
    /// The clients that the embedded provider knows from then on.
    let developmentClients: [DevelopmentClient]
}
