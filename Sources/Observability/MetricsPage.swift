// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The document of `GET /metrics`; every metric of the contract is spelled here only.
///
/// Labels are bounded: routes and identities come from the configuration, the others are closed sets.
package enum MetricsPage {
    /// The media type of the page.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package static func render(_ snapshot: MetricsSnapshot, identityStates: [String]) -> [UInt8] {
        var text = PrometheusText()
        text.begin("bearerd_build_info", .gauge, help: "The version that runs; always 1.")
        text.sample("bearerd_build_info", ["version": snapshot.version], 1)
        appendRequests(snapshot, to: &text)
        appendUpstreams(snapshot, to: &text)
        appendIdentities(snapshot.identities, states: identityStates, to: &text)
        text.begin("bearerd_identity_routes", .gauge, help: "How many routes use an identity.")
        for identity in snapshot.identities {
            text.sample(
                "bearerd_identity_routes", ["identity": identity.name],
                snapshot.routeCounts[identity.name] ?? 0)
        }
        text.begin(
            "bearerd_log_lines_dropped_total", .counter,
            help: "Log lines lost to a slow reader, or to a disk that is full.")
        text.sample("bearerd_log_lines_dropped_total", [:], snapshot.droppedLogLines)
        text.begin(
            "bearerd_audit_lines_dropped_total", .counter,
            help: "Lines of the audit lost to a file that cannot be written.")
        text.sample("bearerd_audit_lines_dropped_total", [:], snapshot.droppedAuditLines)
        text.begin(
            "bearerd_trace_spans_dropped_total", .counter,
            help: "Spans of traces lost because no collector took them.")
        text.sample("bearerd_trace_spans_dropped_total", [:], snapshot.droppedSpans)
        appendReloads(snapshot.reloads, to: &text)
        appendCapacity(snapshot, to: &text)
        appendProcess(snapshot.process, to: &text)
        return text.bytes
    }

    private static func appendRequests(_ snapshot: MetricsSnapshot, to text: inout PrometheusText) {
        let routes = snapshot.workers.inOrder

        text.begin("bearerd_requests_total", .counter, help: "Answered requests by route and exact status.")
        for (name, route) in routes {
            for entry in route.statuses.sorted(by: { $0.status < $1.status }) {
                text.sample(
                    "bearerd_requests_total", ["route": name, "code": "\(entry.status)"], entry.count)
            }
        }

        text.begin(
            "bearerd_request_duration_seconds", .histogram,
            help: "From the whole head of a request to the last byte of its answer.")
        for (name, route) in routes { append(route.durations, route: name, to: &text) }

        text.begin("bearerd_denied_total", .counter, help: "Requests refused before they were sent on.")
        for reason in DenialReason.allCases {
            text.sample("bearerd_denied_total", ["reason": reason.label], snapshot.workers.denied[reason])
        }

        text.begin("bearerd_open_connections", .gauge, help: "Connections of clients that are open now.")
        text.sample("bearerd_open_connections", [:], snapshot.workers.openConnections)
    }

    private static func appendUpstreams(_ snapshot: MetricsSnapshot, to text: inout PrometheusText) {
        let routes = snapshot.workers.inOrder.filter { $0.name != WorkerMetrics.noRoute }

        text.begin("bearerd_upstream_connections", .gauge, help: "Upstream connections that are open now.")
        append(
            "bearerd_upstream_connections", "state", routes.map { ($0, $1.upstreamConnections) }, to: &text)

        text.begin(
            "bearerd_route_failing", .gauge,
            help: "1 if the last minute's answers to clients make a route one that fails.")
        for (name, isFailing) in snapshot.failingRoutes.sorted(by: { $0.key < $1.key }) {
            text.sample("bearerd_route_failing", ["route": name], isFailing ? 1 : 0)
        }

        text.begin(
            "bearerd_upstream_failures_total", .counter,
            help: "Requests that got no whole answer from the upstream, by what was wrong with it.")
        append(
            "bearerd_upstream_failures_total", "reason", routes.map { ($0, $1.upstreamFailures) }, to: &text)

        text.begin(
            "bearerd_authorization_errors_total", .counter,
            help: "Answers with which the upstream refused the token, by the challenge's error.")
        append(
            "bearerd_authorization_errors_total", "error", routes.map { ($0, $1.authorizationErrors) },
            to: &text)

        text.begin("bearerd_replays_total", .counter, help: "Requests sent again with a new token.")
        append("bearerd_replays_total", "result", routes.map { ($0, $1.replays) }, to: &text)
    }

    private static func append<Label>(
        _ name: String, _ label: String, _ tallies: [(route: String, tally: Tally<Label>)],
        to text: inout PrometheusText
    ) {
        for (route, tally) in tallies {
            for value in Label.allCases {
                text.sample(name, ["route": route, label: value.label], tally[value])
            }
        }
    }

    private static func append(_ histogram: DurationHistogram, route: String, to text: inout PrometheusText) {
        let name = "bearerd_request_duration_seconds"
        var cumulative = 0
        for (bucket, count) in zip(DurationHistogram.bounds, histogram.counts) {
            cumulative += count
            text.sample("\(name)_bucket", ["route": route, "le": bucket.label], cumulative)
        }
        text.sample("\(name)_bucket", ["route": route, "le": "+Inf"], histogram.count)
        text.sample("\(name)_sum", ["route": route], histogram.sum / .seconds(1))
        text.sample("\(name)_count", ["route": route], histogram.count)
    }

    private static func appendIdentities(
        _ identities: [IdentityMetrics], states: [String], to text: inout PrometheusText
    ) {
        text.begin(
            "bearerd_token_requests_total", .counter, help: "Requests to the token endpoint, by outcome.")
        for identity in identities {
            for requests in identity.tokenRequests {
                text.sample(
                    "bearerd_token_requests_total",
                    ["identity": identity.name, "grant": requests.grant, "outcome": requests.outcome],
                    requests.count)
            }
        }

        text.begin(
            "bearerd_token_expiry_timestamp_seconds", .gauge,
            help: "When the access token expires, in seconds since 1970; 0 without a token.")
        for identity in identities {
            text.sample(
                "bearerd_token_expiry_timestamp_seconds", ["identity": identity.name],
                identity.expiryUnixSeconds ?? 0)
        }

        text.begin(
            "bearerd_token_usable", .gauge,
            help: "1 while there is an access token that can be sent, whatever the state.")
        for identity in identities {
            text.sample("bearerd_token_usable", ["identity": identity.name], identity.isServing ? 1 : 0)
        }

        text.begin(
            "bearerd_identity_state", .gauge,
            help: "1 for the present state of an identity, 0 for the others.")
        for identity in identities {
            for state in states {
                text.sample(
                    "bearerd_identity_state", ["identity": identity.name, "state": state],
                    state == identity.state ? 1 : 0)
            }
        }

        text.begin(
            "bearerd_store_unavailable", .gauge,
            help: "1 while the store cannot do what it is asked for an identity.")
        for identity in identities {
            text.sample(
                "bearerd_store_unavailable", ["identity": identity.name], identity.isStoreAway ? 1 : 0)
        }

        text.begin(
            "bearerd_store_write_failures_total", .counter,
            help: "Failed attempts to put new tokens into the store.")
        for identity in identities {
            text.sample(
                "bearerd_store_write_failures_total", ["identity": identity.name], identity.storeWriteFailures
            )
        }
    }

    private static func appendReloads(_ reloads: ReloadCounts, to text: inout PrometheusText) {
        text.begin(
            "bearerd_config_reloads_total", .counter,
            help: "How often the configuration was read again, by what came of it.")
        text.sample("bearerd_config_reloads_total", ["result": "success"], reloads.successes)
        text.sample("bearerd_config_reloads_total", ["result": "failure"], reloads.failures)
        text.begin(
            "bearerd_config_last_reload_success_timestamp_seconds", .gauge,
            help: "When the configuration in force was read, in seconds since 1970.")
        text.sample("bearerd_config_last_reload_success_timestamp_seconds", [:], reloads.lastSuccess)
    }

    /// Appends the process metrics under the names that Prometheus' own client libraries use.
    private static func appendProcess(_ process: ProcessStatistics, to text: inout PrometheusText) {
        text.begin("process_cpu_seconds_total", .counter, help: "CPU time, user and system, in seconds.")
        text.sample("process_cpu_seconds_total", [:], process.cpuSeconds)
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Resident memory.", process.residentBytes),
            ("process_virtual_memory_bytes", "Virtual memory.", process.virtualBytes),
            ("process_open_fds", "Open descriptors.", process.openDescriptors),
            ("process_max_fds", "How many descriptors may be open.", process.maximumDescriptors),
            ("process_threads", "Threads.", process.threads),
        ] {
            text.begin(name, .gauge, help: help)
            text.sample(name, [:], value)
        }
        text.begin(
            "process_start_time_seconds", .gauge, help: "When the process started, in seconds since 1970.")
        text.sample("process_start_time_seconds", [:], process.startSeconds)
    }
}

extension WorkerMetrics {
    /// The routes sorted by name, followed by the requests that matched none.
    fileprivate var inOrder: [(name: String, metrics: RouteMetrics)] {
        let named = routes.filter { $0.key != Self.noRoute }.sorted { $0.key < $1.key }
        return named.map { ($0.key, $0.value) } + [(Self.noRoute, routes[Self.noRoute] ?? RouteMetrics())]
    }
}
