// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// What a request asks of the connection that carries it, beside what its own fields say.
package struct RequestForm: Sendable {
    /// How much content follows.
    package var length = BodyLength.none
    /// Whether whoever reads the answer wants its trailers (RFC 9110 §10.1.4).
    package var takesTrailers = false
    /// The protocols to switch to, if the upstream wants to, as `Upgrade` names them (RFC 9110 §7.8).
    package var upgrade: String?

    package init() {}
}
