// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// An answer of the authorization server, whatever its status.
///
/// May hold tokens: never printed.
public struct ProviderResponse: Sendable {
    /// The status code.
    public var status: Int
    package var fields: HTTPFields
    /// The body, as far as it came.
    public var body: [UInt8]
    /// Why the body is not whole; nil if it is, as it always is unless the request wants such an answer too.
    public var cutOff: TransportError?
    /// Who answered, as errors name it; set, like ``words``, by who asked.
    package var place = "the provider"
    /// What an error says to people, as far as it may be shown.
    package var words: String?

    package init(status: Int, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension ProviderResponse {
    /// An answer as a transport received it; names of fields that cannot be are dropped.
    public init(status: Int, headers: [NamedValue], body: [UInt8]) {
        self.init(status: status, body: body)
        for header in headers {
            guard let name = HTTPFields.Name(header.name) else { continue }
            fields.append(name, header.value)
        }
    }
}

extension ProviderResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[answer of the authorization server, status \(status)]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
