// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
package import OAuth

/// The document of `GET /api/status` and of `bearerd status --json`.
package struct StatusDocument: Sendable {
    package var version: String
    /// The daemon that tells it; nil where none runs and the document tells what the store holds.
    package var daemon: DaemonLife?
    /// The absolute path of the configuration that the daemon reads; nil without a daemon, or if that has no file.
    package var configurationFile: String?
    /// Where the daemon keeps its sessions; nil where they are in no files, and of an older daemon.
    package var storeDirectory: String?
    /// True if the daemon says that it has no file; an older one says nothing of it.
    package var hasNoFile = false
    /// The last reload, if it was refused.
    package var refusedReload: RefusedReload?
    /// The time since the start; nil without a daemon.
    package var uptime: Duration?
    package var identities: [SessionStatus]
    package var routes: [RouteStatus]
    /// The workers' counts; nil without a daemon.
    package var requests: RequestCounts?
    /// A sentence for each protection that the configuration turns off.
    package var warnings: [String]
    /// The names of workers that do not respond; their last counts are used.
    package var silentWorkers: [String]
    /// A sentence for each certificate that bearerd shows to others though it has ended.
    package var endedCertificates: [String] = []
    /// True while the daemon is ending.
    package var isDraining = false

    package init(
        version: String, uptime: Duration?, identities: [SessionStatus], routes: [RouteStatus],
        requests: RequestCounts?, warnings: [String] = [], silentWorkers: [String] = [],
        daemon: DaemonLife? = nil, configurationFile: String? = nil, refusedReload: RefusedReload? = nil
    ) {
        self.version = version
        self.daemon = daemon
        self.configurationFile = configurationFile
        self.refusedReload = refusedReload
        self.uptime = uptime
        self.identities = identities
        self.routes = routes
        self.requests = requests
        self.warnings = warnings
        self.silentWorkers = silentWorkers
    }

    /// Reads ``json``; unreadable identities and routes are left out.
    ///
    /// - Returns: nil if it is no status.
    package init?(_ json: JSONValue) {
        guard let identities = json[.identities]?.array else { return nil }
        self.init(
            version: json[.version]?.string ?? "", uptime: json[.uptime]?.integer.map { .seconds($0) },
            identities: identities.compactMap { SessionStatus(admin: $0) },
            routes: json[.routes]?.array?.compactMap { RouteStatus($0) } ?? [],
            requests: json[.requests].flatMap { RequestCounts($0) }, warnings: json.strings(.warnings),
            silentWorkers: json.strings(.silentWorkers), daemon: DaemonLife(json),
            configurationFile: json[.configurationFile]?.string,
            refusedReload: json[.refusedReload].flatMap { RefusedReload($0) })
        isDraining = json[.draining]?.bool ?? false
        endedCertificates = json.strings(.endedCertificates)
        storeDirectory = json[.storeDirectory]?.string
        if daemon != nil, case .null? = json[.configurationFile] { hasNoFile = true }
    }

    /// The document; times are RFC 3339 in UTC.
    package var json: JSONValue {
        func list(_ texts: [String]) -> JSONValue? {
            texts.isEmpty ? nil : .some(.array(texts.map(JSONValue.string)))
        }
        return JSONValue(admin: [
            .version: .string(version), .running: .bool(daemon != nil),
            .pid: daemon.map { .integer(Int64($0.processID)) },
            .startedAt: daemon.map { Optional($0.startedAt).json },
            .configurationFile: configurationFile.map(JSONValue.string)
                ?? (daemon == nil ? nil : .some(.null)),
            .storeDirectory: storeDirectory.map(JSONValue.string),
            .uptime: uptime.map { .integer($0.components.seconds) },
            .identities: .array(identities.map(\.json)), .routes: .array(routes.map(\.json)),
            .requests: requests?.json, .warnings: list(warnings), .silentWorkers: list(silentWorkers),
            .endedCertificates: list(endedCertificates),
            .refusedReload: refusedReload?.json, .draining: isDraining ? .some(.bool(true)) : nil,
        ])
    }
}
