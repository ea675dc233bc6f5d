// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdHTTPServer

/// The form in which a person types the admin key into a page.
struct KeyForm {
    let key: String
    /// The page that the person wanted: the status page, or a login.
    let destination: AdminResource

    /// Parses a form (`application/x-www-form-urlencoded`); nil if it is not ours.
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
    /// True if a browser's window asks for a page.
    var isOfPerson: Bool {
        guard head.method == .get,
            head.fields.values(of: .accept).contains(where: { $0.contains("text/html") })
        else { return false }
        return head.fields[.secFetchMode].map { $0.lowercased() == "navigate" } ?? true
    }
}
