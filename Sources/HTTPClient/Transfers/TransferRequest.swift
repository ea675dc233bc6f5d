// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// A request that libcurl carries as a whole.
///
/// May hold secrets in its fields and body: never printed.
package struct TransferRequest: Sendable {
    package var method: HTTPMethod
    package var url: HTTPURL
    /// Sent beside `Host`, `Accept` and `Content-Length`, which libcurl adds where they are missing.
    package var fields: HTTPFields
    package var body: [UInt8]
    /// From the name's look-up to the last byte of the answer; zero waits for ever.
    package var timeLimit: Duration
    /// In place of ``timeLimit`` once the request is on its way, where that is longer.
    package var sentTimeLimit: Duration?
    /// An answer with a larger body is cut off with ``TransferError/tooLarge``.
    package var maximumBodyBytes: Int
    /// Whether what has come of an answer that was cut off is worth having; see ``TransferResponse/cutOff``.
    package var keepsPartialAnswer = false

    package init(
        method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: [UInt8] = [],
        timeLimit: Duration = .seconds(10), maximumBodyBytes: Int = 1 << 20
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeLimit = timeLimit
        self.maximumBodyBytes = maximumBodyBytes
    }
}

extension TransferRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[\(method) request]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
