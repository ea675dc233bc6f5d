// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A browser's tab on the admin listener, with as many cookies as it was given.
struct Tab {
    let site: LoginSite
    /// `Cookie`, as the browser sends it back.
    private(set) var cookies: [String] = []
    /// Where the provider asks the person to log in.
    private(set) var url = ""

    /// Opens `/login/web`.
    static func opened(on site: LoginSite, _ identity: String = "web") throws -> Tab {
        var tab = Tab(site: site)
        let answer = try tab.get("/login/\(identity)")
        guard answer.status == 303, let url = answer["Location"], let cookie = answer["Set-Cookie"] else {
            throw WireError("no redirect: \(answer.head)\(answer.text)")
        }
        tab.url = url
        tab.cookies = [String(cookie.prefix { $0 != ";" })]
        return tab
    }

    /// A person's request, as browsers make it.
    func get(_ target: String, _ fields: [(String, String)] = []) throws -> RawResponse {
        let own = cookies.isEmpty ? [] : [("Cookie", cookies.joined(separator: "; "))]
        return try RawClient(to: site.bearerd.admin).request(
            "GET", target,
            [
                ("Accept", "text/html,*/*;q=0.8"), ("Sec-Fetch-Mode", "navigate"),
                ("Sec-Fetch-Dest", "document"),
            ]
                + own + fields)
    }

    /// Where the provider sends the person.
    ///
    /// - Returns: path and query.
    func answer(saying no: Bool = false) throws -> String {
        let location = try site.logIn(at: url, saying: no)
        let origin = "http://\(try site.bearerd.admin)"
        guard location.hasPrefix(origin) else { throw WireError("sent to \(location)") }
        return String(location.dropFirst(origin.count))
    }

    /// The same tab in a browser that has these cookies.
    func with(_ cookies: [String]) -> Tab {
        var tab = self
        tab.cookies = cookies
        return tab
    }
}
