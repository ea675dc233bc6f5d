// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem
import Testing

struct `The metrics` {
    private let process = ProcessStatistics.current()
    private let states = ["authorized", "refreshing", "empty"]

    private func page(_ workers: WorkerMetrics) -> String {
        let identity = IdentityMetrics(
            name: "default", state: "authorized", expiryUnixSeconds: 1_795_257_954,
            tokenRequests: [.init(grant: "client_credentials", outcome: "success", count: 2)])
        let snapshot = MetricsSnapshot(
            version: "1.2.3", workers: workers, identities: [identity], process: process)
        return String(decoding: MetricsPage.render(snapshot, identityStates: states), as: UTF8.self)
    }

    /// What a worker says that has counted so much for one route.
    private func metrics(_ route: String = "/", _ count: (RouteTally) -> Void = { _ in }) -> WorkerMetrics {
        let tally = RouteTally(route)
        count(tally)
        var metrics = WorkerMetrics()
        metrics.add(tally)
        return metrics
    }

    @Test func `limits, certificates and secrets that end are told, each pair of labels once`() {
        let secretEnds: [(String, Double?)] = [("kept", nil), ("registered", 1_800_000_000)]
        let identities = secretEnds.map { name, end in
            IdentityMetrics(
                name: name, state: "authorized", expiryUnixSeconds: nil, tokenRequests: [],
                secretExpiryUnixSeconds: end)
        }
        let capacity = ProcessCapacity(
            workers: 3, connections: 500,
            certificateEnds: [
                CertificateEnd(.listener, unixSeconds: 30),
                CertificateEnd(.upstream, name: "/a", unixSeconds: 20),
                CertificateEnd(.upstream, name: "/a", unixSeconds: 10),
                CertificateEnd(.provider, name: "kept", unixSeconds: 40),
            ])
        let snapshot = MetricsSnapshot(
            version: "1", workers: WorkerMetrics(), identities: identities, process: process,
            capacity: capacity)
        let text = String(decoding: MetricsPage.render(snapshot, identityStates: states), as: UTF8.self)
        let ends = text.split(separator: "\n").filter { $0.hasPrefix("bearerd_certificate_expiry") }
        #expect(
            ends == [
                #"bearerd_certificate_expiry_timestamp_seconds{use="upstream",name="/a"} 10"#,
                #"bearerd_certificate_expiry_timestamp_seconds{use="listener",name=""} 30"#,
                #"bearerd_certificate_expiry_timestamp_seconds{use="provider",name="kept"} 40"#,
            ])
        for line in [
            "bearerd_workers 3", "bearerd_connection_limit 500",
            #"bearerd_client_secret_expiry_timestamp_seconds{identity="kept"} 0.0"#,
            #"bearerd_client_secret_expiry_timestamp_seconds{identity="registered"} 1800000000.0"#,
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test func `requests are counted by route and exact status across workers`() {
        var one = metrics("/") { $0.countRequest(status: 200, duration: .milliseconds(3)) }
        one.merge(metrics("/api") { $0.countRequest(status: 418, duration: .milliseconds(3)) })
        let none = RouteTally.forNoRoute()
        none.countRequest(status: 404, duration: .zero)
        one.add(none)
        one.merge(metrics("/") { $0.countRequest(status: 200, duration: .seconds(60)) })
        let text = page(one)
        #expect(text.contains("\nbearerd_requests_total{route=\"/\",code=\"200\"} 2\n"))
        #expect(text.contains("\nbearerd_requests_total{route=\"/api\",code=\"418\"} 1\n"))
        #expect(text.contains("\nbearerd_requests_total{route=\"none\",code=\"404\"} 1\n"))
    }

    @Test func `the histogram is cumulative and its sum is in seconds`() {
        let workers = metrics { tally in
            for milliseconds in [1, 3, 250, 60_000] {
                tally.countRequest(status: 200, duration: .milliseconds(milliseconds))
            }
        }
        let text = page(workers)
        let name = "bearerd_request_duration_seconds"
        #expect(text.contains("\n\(name)_bucket{route=\"/\",le=\"0.0005\"} 0\n"))
        #expect(text.contains("\n\(name)_bucket{route=\"/\",le=\"0.001\"} 1\n"))
        #expect(text.contains("\n\(name)_bucket{route=\"/\",le=\"0.25\"} 3\n"))
        #expect(text.contains("\n\(name)_bucket{route=\"/\",le=\"30\"} 3\n"))
        #expect(text.contains("\n\(name)_bucket{route=\"/\",le=\"+Inf\"} 4\n"))
        #expect(text.contains("\n\(name)_sum{route=\"/\"} 60.254\n"))
        #expect(text.contains("\n\(name)_count{route=\"/\"} 4\n"))
    }

    @Test func `a quantile never exceeds what was seen, and a time-out has a bucket of its own`() {
        var durations = DurationHistogram()
        for _ in 0..<9 { durations.record(.milliseconds(10_004)) }
        durations.record(.milliseconds(3))
        for part in [0.5, 0.9, 0.99, 1] {
            let quantile = durations.quantile(part) ?? .zero
            #expect(quantile > .seconds(10) && quantile <= .milliseconds(10_004), "\(part): \(quantile)")
        }
        durations.record(.seconds(4000))
        #expect(durations.quantile(1) == .seconds(4000))
        let before = durations
        for _ in 0..<100 { durations.record(.milliseconds(70)) }
        #expect(durations.since(before).quantile(0.99) ?? .zero <= .milliseconds(70))
        // The defaults of connect, token_wait, first_byte and stream_idle.
        let text = page(metrics())
        for limit in [5, 10, 60, 300] { #expect(text.contains("route=\"/\",le=\"\(limit)\"")) }
    }

    @Test func `every series of a closed set exists from the start`() {
        let text = page(metrics())
        for reason in DenialReason.allCases {
            #expect(text.contains("\nbearerd_denied_total{reason=\"\(reason.label)\"} 0\n"))
        }
        for reason in UpstreamFailureReason.allCases {
            #expect(
                text.contains("\nbearerd_upstream_failures_total{route=\"/\",reason=\"\(reason.label)\"} 0\n")
            )
        }
        for state in UpstreamConnectionState.allCases {
            #expect(text.contains("\nbearerd_upstream_connections{route=\"/\",state=\"\(state.label)\"} 0\n"))
        }
        #expect(text.contains("\nbearerd_identity_state{identity=\"default\",state=\"authorized\"} 1\n"))
        #expect(text.contains("\nbearerd_identity_state{identity=\"default\",state=\"empty\"} 0\n"))
        #expect(text.contains("\nbearerd_open_connections 0\n"))
        #expect(text.contains("\nprocess_resident_memory_bytes \(process.residentBytes)\n"))
        #expect(text.contains("\nprocess_cpu_seconds_total \(process.cpuSeconds)\n"))
        #expect(text.contains("bearerd_build_info{version=\"1.2.3\"} 1\n"))
    }

    @Test func `replays, refused tokens and upstream connections are counted by route`() {
        var workers = metrics { tally in
            tally.countReplay(.accepted)
            tally.countAuthorizationError(.invalidToken)
        }
        workers.countDenial(.host)
        workers.addUpstreamConnections(route: "/", connecting: 0, active: 1, idle: 0)
        let text = page(workers)
        #expect(text.contains("\nbearerd_replays_total{route=\"/\",result=\"accepted\"} 1\n"))
        #expect(
            text.contains("\nbearerd_authorization_errors_total{route=\"/\",error=\"invalid_token\"} 1\n"))
        #expect(text.contains("\nbearerd_denied_total{reason=\"host\"} 1\n"))
        #expect(text.contains("\nbearerd_upstream_connections{route=\"/\",state=\"connecting\"} 0\n"))
        #expect(text.contains("\nbearerd_upstream_connections{route=\"/\",state=\"active\"} 1\n"))
    }

    @Test func `identities show their token requests and expiry`() {
        let text = page(metrics())
        #expect(
            text.contains(
                "\nbearerd_token_requests_total{identity=\"default\",grant=\"client_credentials\",outcome=\"success\"} 2\n"
            ))
        #expect(
            text.contains("\nbearerd_token_expiry_timestamp_seconds{identity=\"default\"} 1795257954.0\n"))
    }

    @Test func `label values are escaped`() {
        let text = page(metrics("/a\"b\\c\nd"))
        #expect(text.contains(#"{route="/a\"b\\c\nd",state="idle"}"#))
    }

    @Test func `each metric has one HELP, one TYPE and its samples together`() {
        let workers = metrics { $0.countRequest(status: 200, duration: .zero) }
        var seen: Set<Substring> = []
        var current: Substring = ""
        for line in page(workers).split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                current = words[2]
                #expect(seen.insert(current).inserted)
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == current)
            } else {
                #expect(line.hasPrefix(current))
            }
        }
    }

    @Test(
        arguments: [
            ("invalid_token", .invalidToken), ("made_up", .other), ("none", .other), ("other", .other),
            (nil, .none),
        ] as [(String?, ChallengeError)])
    func `a challenge's error becomes one of a closed set`(code: String?, expected: ChallengeError) {
        #expect(ChallengeError(code: code) == expected)
    }
}
