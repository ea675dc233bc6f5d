// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// Where traces go, and of which requests (`telemetry`).
package struct TelemetryConfiguration: Sendable {
    /// Where an OTLP collector takes traces over HTTP; nil traces nothing.
    package let tracesEndpoint: HTTPURL?
    /// The share, from 0 to 1, of the requests without a sampled `traceparent` that are traced.
    package let sample: Double
    /// What this process is called in a trace.
    package let serviceName: String
}

extension TelemetryConfiguration {
    enum Key: String, ConfigurationKey {
        case otlpEndpoint = "otlp_endpoint"
        case sample
    }

    /// The variables of OpenTelemetry's that count.
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
        // The environment may be another program's too: what it says wrongly is no reason not to start.
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

    /// A variable that is empty is as good as none.
    private static func value(of variable: Variable, _ section: Section<Key>) -> String? {
        section.reading.environment(variable.rawValue).flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension HTTPURL {
    /// Where a collector takes traces.
    ///
    /// - Parameter base: its URL, with or without a slash at the end.
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
        reading("a number from 0 to 1") { text in
            let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard isDecimal, let share = Double(text), (0...1).contains(share) else { return nil }
            return share
        }
    }
}
