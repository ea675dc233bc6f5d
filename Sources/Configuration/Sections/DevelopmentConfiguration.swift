// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// The embedded provider and API, for trying and for tests (`development`).
package struct DevelopmentConfiguration: Sendable {
    /// Where the identity provider listens, on loopback; nil when it is off.
    package let provider: ListenAddress?
    /// Where the sample API listens, on loopback; nil when it is off.
    package let api: ListenAddress?

    /// Whether any of it is on.
    package var isOn: Bool { provider != nil || api != nil }
}

extension DevelopmentConfiguration {
    enum Key: String, ConfigurationKey {
        case provider
        case api
    }

    init(reading section: Section<Key>) {
        provider = section.value(.provider, .loopbackAddress)?.value
        api = section.value(.api, .loopbackAddress)?.value
        for key in Key.allCases where section.has(key) {
            section.warn(key, "is for trying and for tests, never for production")
        }
    }
}
