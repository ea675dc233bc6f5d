// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdHTTPServer

/// What a person sends who types the admin key into a page.
struct KeyForm {
    let key: String
    /// Where the person goes with it: the status page, or a login.
    let destination: AdminResource

    /// Reads a form (`application/x-www-form-urlencoded`); nil for what is none of ours.
    init?(_ body: [UInt8]) {
        var values: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(pair[..<mark], isForm: true),
                let value = PercentEncoding.decode(pair[mark...].dropFirst(), isForm: true)
            else { return nil }
            values[name] = value
        }
        guard let key = values["key"], !key.isEmpty else { return nil }
        self.key = key
        switch values["next"].flatMap(AdminResource.init(path:)) {
        case .login(let identity)?: destination = .login(identity: identity)
        default: destination = .page
        }
    }
}

extension ServiceRequest {
    /// Whether it is a browser's window that asks, and a page is what its person wants.
    var isOfPerson: Bool {
        guard head.method == .get,
            head.fields.values(of: .accept).contains(where: { $0.contains("text/html") })
        else { return false }
        return head.fields[.secFetchMode].map { $0.lowercased() == "navigate" } ?? true
    }
}
