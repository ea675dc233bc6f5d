// SPDX-License-Identifier: Apache-2.0

/// How large a message head may be before it is refused.
package struct HeadLimits: Hashable, Sendable {
    /// Bytes of the whole head, start line and empty line included.
    package var headerBytes: Int
    /// Bytes of the request target.
    package var uriBytes: Int
    /// Number of field lines.
    package var maxFields: Int

    /// Defaults as in the configuration's `limits`.
    package init(headerBytes: Int = 65_536, uriBytes: Int = 16_384, maxFields: Int = 1024) {
        self.headerBytes = headerBytes
        self.uriBytes = uriBytes
        self.maxFields = maxFields
    }
}
