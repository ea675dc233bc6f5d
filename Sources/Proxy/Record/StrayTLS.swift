// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
package import BearerdObservability

/// Logs that clients speak TLS to a listener of plain HTTP, whose answer their TLS library does not show: one line a
/// minute at most.
///
/// All workers share it.
package final class StrayTLS: Sendable {
    private let log: Log
    private let throttle = LineThrottle(pause: .seconds(60))

    /// - Parameter address: the listener's address, as clients use it.
    package init(log: Log, address: String) { self.log = log.with(.address, .string(address)) }

    /// Takes note of a client that has begun TLS.
    func begun(by peer: PeerAddress) {
        guard let leftOut = throttle.pass() else { return }
        log.warning(
            "a client speaks TLS where plain HTTP is spoken",
            [
                .peer: .string(peer.text),
                .hint: "give it a URL with http://, or this listener a certificate (tls.certificate_file)",
                .leftOut: .integer(leftOut),
            ])
    }
}
