// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The embedded provider and API, for trying and for tests (`development`).
package struct DevelopmentConfiguration: Sendable {
    /// The identity provider's loopback address; nil if it is off.
    package let provider: ListenAddress?
    /// The sample API's loopback address; nil if it is off.
    package let api: ListenAddress?

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
