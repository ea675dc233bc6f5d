// SPDX-License-Identifier: Apache-2.0

/// A value that prints as one fixed sentence, because it holds secrets or a person's data.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// Equal to `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` prints nothing either.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
