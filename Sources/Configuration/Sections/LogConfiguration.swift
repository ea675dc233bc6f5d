// SPDX-License-Identifier: Apache-2.0

package import Observability

/// What is logged on standard error, and how (`log`).
package struct LogConfiguration: Sendable {
    /// The least important level that is written.
    package let level: LogLevel
    /// How lines look; nil for text on a terminal, else JSON.
    package let format: LogFormat?
    /// Whether each request is logged.
    package let access: Bool
    /// The fields that lines of requests have; nil for all of them.
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
        level = section.value(.level, .logLevel, default: .info)
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

extension ValueKind<LogLevel> {
    fileprivate static var logLevel: ValueKind {
        ValueKind { scalar throws(ValueError) in
            if let level = LogLevel(name: scalar.text) { return level }
            let names = LogLevel.allCases.map(\.name)
            let hint = NearMiss.hint(for: scalar.text, among: names)
            throw ValueError("'\(scalar.written)' is not one of \(names.joined(separator: ", "))\(hint)")
        }
    }
}
