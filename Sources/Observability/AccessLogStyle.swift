// SPDX-License-Identifier: Apache-2.0

/// How lines of the access log look.
package struct AccessLogStyle: Equatable, Sendable {
    package let format: LogFormat
    /// Those that lines have; nil for all of them.
    package let fields: Set<AccessField>?

    package init(format: LogFormat = .json, fields: Set<AccessField>? = nil) {
        self.format = format
        self.fields = fields
    }
}
