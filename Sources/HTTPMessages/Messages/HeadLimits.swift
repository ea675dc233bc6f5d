// SPDX-License-Identifier: Apache-2.0

/// Limits on a message head; a larger one is refused.
package struct HeadLimits: Hashable, Sendable {
    /// Bytes of the whole head, with start line and empty line.
    package var headerBytes: Int
    package var uriBytes: Int
    package var maxFields: Int

    /// The defaults of the configuration's `limits`.
    package init(headerBytes: Int = 65_536, uriBytes: Int = 16_384, maxFields: Int = 1024) {
        self.headerBytes = headerBytes
        self.uriBytes = uriBytes
        self.maxFields = maxFields
    }
}
