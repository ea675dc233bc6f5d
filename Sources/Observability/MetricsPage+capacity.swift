// SPDX-License-Identifier: Apache-2.0

extension MetricsPage {
    /// Appends the limits of the process and the ends of certificates and secrets.
    static func appendCapacity(_ snapshot: MetricsSnapshot, to text: inout PrometheusText) {
        text.begin("bearerd_workers", .gauge, help: "Event loops that serve clients.")
        text.sample("bearerd_workers", [:], snapshot.capacity.workers)
        text.begin(
            "bearerd_connection_limit", .gauge, help: "Connections of clients that there may be at a time.")
        text.sample("bearerd_connection_limit", [:], snapshot.capacity.connections)

        text.begin(
            "bearerd_certificate_expiry_timestamp_seconds", .gauge,
            help: "When a certificate that is shown to others ends, in seconds since 1970.")
        // Routes of one path may show several: the first one to end counts.
        var known: Set<[String]> = []
        for end in snapshot.capacity.certificateEnds.sorted(by: { $0.unixSeconds < $1.unixSeconds })
        where known.insert([end.use.rawValue, end.name]).inserted {
            text.sample(
                "bearerd_certificate_expiry_timestamp_seconds", ["use": end.use.rawValue, "name": end.name],
                Int(end.unixSeconds))
        }

        text.begin(
            "bearerd_client_secret_expiry_timestamp_seconds", .gauge,
            help: "When a registered client's secret ends, in seconds since 1970; 0 where nobody says so.")
        for identity in snapshot.identities {
            text.sample(
                "bearerd_client_secret_expiry_timestamp_seconds", ["identity": identity.name],
                identity.secretExpiryUnixSeconds ?? 0)
        }
    }
}
