// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdYAML

/// The export of traces (`telemetry`).
package struct TelemetryConfiguration: Sendable {
    /// The OTLP collector's URL for traces over HTTP; nil traces nothing.
    package let tracesEndpoint: HTTPURL?
    /// The share, from 0 to 1, of requests that are traced without a sampled `traceparent`.
    package let sample: Double
    /// The name of this process in traces.
    package let serviceName: String
}

extension TelemetryConfiguration {
    enum Key: String, ConfigurationKey {
        case otlpEndpoint = "otlp_endpoint"
        case sample
    }

    /// OpenTelemetry's environment variables that are honoured.
    private enum Variable: String {
        case endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
        case serviceName = "OTEL_SERVICE_NAME"
    }

    init(reading section: Section<Key>) {
        sample = section.value(.sample, .share, default: 0.01)
        serviceName = Self.value(of: .serviceName, section) ?? "bearerd"
        guard !section.has(.otlpEndpoint) else {
            tracesEndpoint = section.value(.otlpEndpoint, .collector)?.value
            return
        }
        // The environment may be meant for other programs too, so a wrong value does not keep us from starting.
        guard let text = Self.value(of: .endpoint, section) else {
            tracesEndpoint = nil
            return
        }
        tracesEndpoint = HTTPURL.traces(at: text)
        if tracesEndpoint == nil {
            section.reading.warn(
                "\(Variable.endpoint.rawValue) is ignored: it is not an http or https URL without a query",
                at: section.place)
        }
    }

    /// The value of a variable; an empty one counts as unset.
    private static func value(of variable: Variable, _ section: Section<Key>) -> String? {
        section.reading.environment(variable.rawValue).flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension HTTPURL {
    /// The URL at which a collector takes traces.
    ///
    /// - Returns: nil for anything but an `http` or `https` URL without a query.
    fileprivate static func traces(at base: String) -> HTTPURL? {
        guard let url = HTTPURL(base), url.query == nil, url.scheme != .unix else { return nil }
        return HTTPURL((base.hasSuffix("/") ? String(base.dropLast()) : base) + "/v1/traces")
    }
}

extension ValueKind<HTTPURL> {
    /// The base URL of a collector.
    fileprivate static var collector: ValueKind {
        reading("an http or https URL without a query, like http://127.0.0.1:4318") { HTTPURL.traces(at: $0) }
    }
}

extension ValueKind<Double> {
    /// A number from 0 to 1.
    fileprivate static var share: ValueKind {
        ValueKind(.share) { scalar throws(ValueError) in
            guard let share = scalar.typed.number, (0...1).contains(share)
            else { throw ValueError("'\(scalar.written)' is not a number from 0 to 1") }
            return share
        }
    }
}
