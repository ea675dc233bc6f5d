// SPDX-License-Identifier: Apache-2.0

package import BearerdObservability

/// The log on standard error (`log`).
package struct LogConfiguration: Sendable {
    /// The least severe level that is written.
    package let level: LogLevel
    /// The format of lines; nil for text on a terminal and JSON elsewhere.
    package let format: LogFormat?
    /// True if each request is logged.
    package let access: Bool
    /// The fields of a request's line; nil for all.
    package let accessFields: Set<AccessField>?
}

extension LogConfiguration {
    enum Key: String, ConfigurationKey {
        case level
        case format
        case access
        case accessFields = "access_fields"
    }

    private enum FormatWord: String, CaseIterable {
        case auto
        case text
        case json
    }

    init(reading section: Section<Key>) {
        level = section.value(.level, .word(of: LogLevel.allCases.map { ($0.name, $0) }), default: .info)
        format =
            switch section.value(.format, ValueKind<FormatWord>.word, default: .auto) {
            case .auto: nil
            case .text: .text
            case .json: .json
            }
        access = section.value(.access, .flag, default: true)
        accessFields = section.list(.accessFields, ValueKind<AccessField>.word).map { Set($0.map(\.value)) }
        if accessFields?.isEmpty == true, !section.isInDoubt(.accessFields) {
            section.error(.accessFields, "leaves nothing to tell; access: false turns these lines off")
        }
    }
}
