// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// A request to the authorization server.
///
/// Holds secrets in its fields and body: never printed.
package struct ProviderRequest: Sendable {
    package var method: HTTPMethod
    package var url: HTTPURL
    package var fields: HTTPFields
    package var body: [UInt8]
    /// The time allowed from the first packet to the last byte of the answer.
    package var timeLimit: Duration
    /// A larger answer is cut off with ``TransportError/answerTooLarge``.
    package var maximumAnswerBytes: Int

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

extension ProviderRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[request to the authorization server]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
