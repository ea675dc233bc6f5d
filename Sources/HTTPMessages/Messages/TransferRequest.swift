// SPDX-License-Identifier: Apache-2.0

/// A request that is sent as a whole and answered as a whole.
///
/// It may hold secrets, so it is never printed.
public struct TransferRequest: Sendable {
    package var method: HTTPMethod
    package var url: HTTPURL
    /// Sent besides `Host`, `Accept` and `Content-Length`, which are added if they are missing.
    package var fields: HTTPFields
    /// The body, perhaps empty.
    public var body: [UInt8]
    /// The time-out from name lookup to the last byte of the answer; zero waits for ever.
    public var timeLimit: Duration
    /// Replaces ``timeLimit`` once the request was sent, if it is longer: an answer may be worth waiting for longer
    /// than a connection.
    public var sentTimeLimit: Duration?
    /// The longest body of an answer, in bytes; the rest is cut off.
    public var maximumAnswerBytes: Int
    /// True if only an address of this machine or of its own link may be connected to, and no proxy be asked.
    package var staysNearby = false
    /// Asked when the connection stands, and TLS with it, right before the request is sent; nil sends it.
    ///
    /// False withholds the request, which may have waited long for its connection. It is called on any thread, and does not wait.
    public var maySend: (@Sendable () -> Bool)?
    /// True if an answer that was cut off is of use.
    public var keepsPartialAnswer = false

    package init(
        method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: [UInt8] = [],
        timeLimit: Duration = .seconds(10), maximumAnswerBytes: Int = 1 << 20
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeLimit = timeLimit
        self.maximumAnswerBytes = maximumAnswerBytes
    }
}

extension TransferRequest {
    /// The method as on the wire.
    public var methodName: String { method.rawValue }

    /// The absolute `http` or `https` URL to ask.
    public var address: String { url.description }
}

extension TransferRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without any part of the content.
    public var description: String { "[\(method) request]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
