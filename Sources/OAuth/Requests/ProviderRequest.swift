// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// A request to the authorization server.
///
/// Holds secrets in its fields and body: never printed.
public struct ProviderRequest: Sendable {
    package var method: HTTPMethod
    package var url: HTTPURL
    package var fields: HTTPFields
    /// The body, perhaps empty.
    public var body: [UInt8]
    /// The time allowed from the first packet to the last byte of the answer.
    public var timeLimit: Duration
    /// In place of ``timeLimit`` once the request is on its way: the answer may be worth waiting for, connecting is not.
    public var sentTimeLimit: Duration?
    /// A larger answer is cut off with ``TransportError/answerTooLarge``.
    public var maximumAnswerBytes: Int
    /// Whether what has come of an answer that was cut off is worth having; see ``ProviderResponse/cutOff``.
    public var keepsPartialAnswer = false

    package init(
        method: HTTPMethod, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: [UInt8] = [],
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

extension ProviderRequest {
    /// The method as on the wire.
    public var methodName: String { method.rawValue }

    /// The absolute `http` or `https` URL to ask.
    public var address: String { url.description }

    /// The header fields in the order to send them.
    public var headers: [NamedValue] {
        var headers: [NamedValue] = []
        fields.forEach { name, value in headers.append(NamedValue("\(name)", value)) }
        return headers
    }
}

extension ProviderRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[request to the authorization server]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
