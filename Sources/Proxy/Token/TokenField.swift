// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import HTTPMessages
internal import OAuth

/// How the requests of one route carry their token (RFC 6750 §2.1): the one place that writes it into a head.
///
/// The field is made once for each token, and overwritten in memory when the next one takes its place.
struct TokenField {
    private let name: HTTPFields.Name
    /// What stands before the token.
    private let start: [UInt8]
    private var token: AccessTokenSnapshot?
    private var line = Secret(bytes: [])

    init(_ credentials: Route.Credentials) {
        name = credentials.name
        let scheme = credentials.scheme.isEmpty ? "" : credentials.scheme + " "
        start = Array("\(name.description): \(scheme)".utf8)
    }

    /// Writes `token` over whatever stands in its place.
    mutating func authorize(_ head: inout HTTPRequest, with token: AccessTokenSnapshot) {
        if token !== self.token { prepare(token) }
        remove(from: &head)
        head.fields.append(line: line.plaintextBytes, of: name)
    }

    /// Removes what the client has put in the token's place.
    func remove(from head: inout HTTPRequest) { head.fields.remove(name) }

    private mutating func prepare(_ token: AccessTokenSnapshot) {
        self.token = token
        line = token.token.withPlaintextBytes { token in
            // Of its last size at once: what an array outgrows is freed as it is.
            var line: [UInt8] = []
            line.reserveCapacity(start.count + token.count + 2)
            line += start
            line.append(token)
            line += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
            return Secret(bytes: line)
        }
    }
}
