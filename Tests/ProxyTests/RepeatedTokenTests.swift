// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

@testable import BearerdProxy

/// A token that was sent in the query, and that an upstream repeats.
@Suite struct `A token in the fields of an answer` {
    private static let token = "k+/=&%-key"

    private func fields(_ name: String, _ value: String) throws -> HTTPFields {
        var fields = HTTPFields()
        fields.append(try #require(HTTPFields.Name(name)), value)
        fields.removeValue(Self.token)
        return fields
    }

    private func encoded(_ layers: Int) -> String {
        (0..<layers).reduce(Self.token) { text, _ in PercentEncoding.encoded(text) }
    }

    @Test(arguments: ["Location", "Content-Location", "Link", "Refresh"], 0...3)
    func `is removed, however often it is encoded`(name: String, layers: Int) throws {
        let value = "/login?next=%2Forders%3Fkey%3D\(encoded(layers))%26page%3D2"
        let shown = try fields(name, value)[try #require(HTTPFields.Name(name))]
        #expect(shown == "/login?next=%2Forders%3Fkey%3D%26page%3D2")
    }

    @Test func `takes the field with it where it is encoded in another way`() throws {
        // As few bytes as can be, in lower case.
        #expect(try fields("Location", "/login?next=k%2b/=%26%25-key")[.location] == nil)
        #expect(try fields("Location", "/login?next=%6B%2B%2F%3D%26%25-key")[.location] == nil)
        #expect(try fields("Location", "/login?next=k%252b/=%2526%2525-key")[.location] == nil)
    }

    @Test func `leaves all else as it is`() throws {
        for value in ["/orders?page=2", "https://elsewhere.example/%zz?a=%2B", "/k+/=&%"] {
            #expect(try fields("Location", value)[.location] == value)
        }
        var fields = try fields("Set-Cookie", "a=\(Self.token)")
        fields.removeValue("short")
        #expect(fields[try #require(HTTPFields.Name("Set-Cookie"))] == "a=\(Self.token)")
    }
}
