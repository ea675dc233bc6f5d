// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A response of any status; redirects are not followed.
///
/// It may hold secrets and is never printed.
package struct TransferResponse: Sendable {
    package let status: Int
    /// The fields of the final response, followed by its trailers.
    package let fields: HTTPFields
    package let body: [UInt8]
    /// The reason why the body is incomplete; nil if it is complete, as always unless the request accepts
    /// less.
    package var cutOff: TransferError?
}

extension TransferResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[answer with status \(status)]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
