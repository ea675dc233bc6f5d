// SPDX-License-Identifier: Apache-2.0

/// A small service: one whole request in, one answer out.
package protocol HTTPResponder: Sendable {
    /// Runs on the service's loop; must not block it.
    func respond(to request: ServiceRequest) async -> ServiceReply
}
