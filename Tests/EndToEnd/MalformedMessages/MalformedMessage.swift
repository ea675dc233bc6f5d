// SPDX-License-Identifier: Apache-2.0

/// A message that breaks HTTP's grammar, or that two readers could read in two ways.
struct MalformedMessage: Sendable, CustomStringConvertible {
    /// Every byte; in a request `$host` stands for what `Host` has to say.
    let text: String
    /// The status that the client must get.
    let status: Int
    /// True if the sender closes the connection after the message.
    let endsConnection: Bool
    /// The error in the `Proxy-Status` (RFC 9209) of a 502.
    let error: String

    init(
        _ text: String, _ status: Int = 400, endsConnection: Bool = false,
        error: String = "http_protocol_error"
    ) {
        self.text = text
        self.status = status
        self.endsConnection = endsConnection
        self.error = error
    }

    var description: String {
        text.count > 200 ? "\(text.prefix(200).debugDescription)…" : text.debugDescription
    }
}
