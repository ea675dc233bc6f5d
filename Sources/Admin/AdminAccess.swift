// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import HTTPTypes

/// Who may read and who may act on the admin listener.
struct AdminAccess {
    let hosts: HostList
    let key: CurrentSecret?
    /// Whether nothing is shown without a key, not even where none is configured.
    let needsKey: Bool

    /// Guards everything but health, readiness and metrics.
    func checkReading(_ request: HTTPRequest) throws(AdminError) {
        guard hosts.contains(request.fields[.host]) else { throw .wrongHost }
        guard let key else {
            guard needsKey else { return }
            throw .noKey
        }
        guard given(in: request).contains(where: { key.matches(Array($0.utf8)) }) else { throw .wrongKey }
    }

    /// Guards what changes something: a page of another site can send neither the header nor our origin.
    func checkActing(_ request: HTTPRequest) throws(AdminError) {
        try checkReading(request)
        guard let header = request.fields[.bearerdAdmin], request.fields.count(of: .bearerdAdmin) == 1,
            header == "1" || key.map({ $0.matches(Array(header.utf8)) }) ?? false,
            isFromHere(request)
        else { throw .notFromHere }
    }

    private func given(in request: HTTPRequest) -> [String] {
        let bearer = request.fields.values(of: .authorization).compactMap { value -> String? in
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
            return String(parts[1])
        }
        return bearer + request.fields.values(of: .bearerdAdmin)
    }

    private func isFromHere(_ request: HTTPRequest) -> Bool {
        guard let origin = request.fields[.origin] else { return true }
        guard let host = request.fields[.host], request.fields.count(of: .origin) == 1 else { return false }
        return origin.lowercased() == "http://\(host.lowercased())"
    }
}
