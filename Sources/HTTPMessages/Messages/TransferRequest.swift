// SPDX-License-Identifier: Apache-2.0

/// A request that is sent as a whole, and answered as a whole.
///
/// May hold secrets in its fields and body: never printed.
public struct TransferRequest: Sendable {
    package var method: HTTPMethod
    package var url: HTTPURL
    /// Sent beside `Host`, `Accept` and `Content-Length`, which are added where they are missing.
    package var fields: HTTPFields
    /// The body, perhaps empty.
    public var body: [UInt8]
    /// From the name's look-up to the last byte of the answer; zero waits for ever.
    public var timeLimit: Duration
    /// In place of ``timeLimit`` once the request is on its way, where that is longer: the answer may be worth waiting
    /// for, connecting is not.
    public var sentTimeLimit: Duration?
    /// An answer with a larger body is cut off.
    public var maximumAnswerBytes: Int
    /// Whether what has come of an answer that was cut off is worth having.
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
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[\(method) request]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
