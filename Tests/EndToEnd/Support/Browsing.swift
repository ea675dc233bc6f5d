// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// Sends a request to a URL on a connection of its own.
func browse(
    _ url: String, _ method: String = "GET", _ fields: [(String, String)] = [], body: String? = nil
) throws -> RawResponse {
    let rest = url.dropFirst("http://".count)
    let authority = rest.prefix { $0 != "/" }
    guard let address = Address(String(authority)) else { throw WireError("no address in \(url)") }
    return try RawClient(to: address).request(
        method, String(rest.dropFirst(authority.count)), fields, body: body)
}
