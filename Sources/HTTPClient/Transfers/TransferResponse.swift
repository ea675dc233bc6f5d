// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// An answer, whatever its status; redirects are not followed.
///
/// May hold secrets: never printed.
package struct TransferResponse: Sendable {
    package let status: Int
    /// The fields of the final answer; trailers are appended.
    package let fields: HTTPFields
    package let body: [UInt8]
    /// Why the body is not whole; nil if it is, as it always is unless the request wants such an answer too.
    package var cutOff: TransferError?
}

extension TransferResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[answer with status \(status)]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
