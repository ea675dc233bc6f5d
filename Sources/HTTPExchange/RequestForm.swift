// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The needs of a request that its connection must meet, beside what its fields say.
package struct RequestForm: Sendable {
    /// The length of the content.
    package var length = BodyLength.none
    /// True if the client accepts trailers in the response (RFC 9110 §10.1.4).
    package var takesTrailers = false
    /// The protocols to which the upstream may switch, as the `Upgrade` field lists them (RFC 9110 §7.8); HTTP/2 asks for
    /// one of them with an extended CONNECT (RFC 8441).
    package var upgrade: String?

    /// The size of the head as HTTP/2 counts it (RFC 9113 §6.5.2); zero where no other request shares the connection.
    package var headSize = 0
    /// True if the client has sent a head so large that servers may end a connection for it.
    package var isHeadLarge = false

    package init() {}
}
