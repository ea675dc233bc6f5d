// SPDX-License-Identifier: Apache-2.0

/// The format of the access log.
package struct AccessLogStyle: Equatable, Sendable {
    package let format: LogFormat
    /// The fields of a line; nil for all.
    package let fields: Set<AccessField>?

    package init(format: LogFormat = .json, fields: Set<AccessField>? = nil) {
        self.format = format
        self.fields = fields
    }
}
