// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import SessionImport
import Testing

/// Sessions that other programs are to read.
struct `A GTMOAuth2 string that is written` {
    private let vector =
        "email=foo%40foo.com&isVerified=1&refresh_token=1%2Fabc%25%26%3D&scope=profile%20email&userID=123456789"

    @Test func `is the one that is read`() throws {
        var session = try #require(
            ImportedSession(refreshToken: Secret("1/abc%&="), scope: ["profile", "email"]))
        session.userID = "123456789"
        session.userEmail = "foo@foo.com"
        session.isEmailVerified = true
        #expect(session.gtmOAuth2String.withPlaintext { $0 } == vector)
        let read = try ImportFormat.gtmOAuth2.parse(Array(vector.utf8))
        #expect(read.refreshToken.matches(Array("1/abc%&=".utf8)) && read.scope == ["profile", "email"])
        #expect(read.userID == "123456789" && read.userEmail == "foo@foo.com" && read.isEmailVerified)
    }

    @Test func `has no more than is known`() throws {
        let session = try #require(ImportedSession(refreshToken: Secret("rt")))
        #expect(session.gtmOAuth2String.withPlaintext { $0 } == "refresh_token=rt")
        #expect(ImportedSession(refreshToken: Secret("two words")) == nil)
    }

    @Test func `knows the person in GTMAppAuth's own dialect`() throws {
        let text = "refresh_token=rt&userEmail=foo%40foo.com&userEmailIsVerified=y&userID=1"
        let read = try ImportFormat.gtmOAuth2.parse(Array(text.utf8))
        #expect(read.userEmail == "foo@foo.com" && read.isEmailVerified && read.userID == "1")
    }
}
