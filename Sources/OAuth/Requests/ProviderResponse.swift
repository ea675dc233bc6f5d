// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// A whole answer of the authorization server, whatever its status.
///
/// May hold tokens: never printed.
package struct ProviderResponse: Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]

    package init(status: Int, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension ProviderResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[answer of the authorization server, status \(status)]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
