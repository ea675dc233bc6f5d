// SPDX-License-Identifier: Apache-2.0

import OAuth
import Testing

@Suite struct `A challenge in WWW-Authenticate` {
    private func error(_ fields: String...) -> String? {
        BearerChallenge(in: fields)?.error?.rawValue
    }

    @Test(arguments: [
        #"Bearer realm="example", error="invalid_token", error_description="expired""#,
        #"bearer ERROR="invalid_token""#,
        "Bearer error=invalid_token",
        #"Bearer  error = "invalid_token" , scope = "a""#,
        #"Bearer error="invalid_token", error="insufficient_scope""#,
        #"Bearer realm="error=\"insufficient_scope\"", error="invalid_token""#,
        #"Basic realm="x", Bearer error="invalid_token""#,
        #"Bearer error="invalid_token", Basic realm="x", error="other""#,
        #"Negotiate YWJj==, Bearer error="invalid_token""#,
        #",, Bearer ,, error="in\valid_token",,"#,
        #"Bearer error="invalid_token"#,
    ])
    func `of the scheme Bearer says what is wrong`(field: String) {
        #expect(error(field) == "invalid_token")
    }

    @Test(arguments: [
        "Bearer", "", "Bearer abc/def+==", #"error="invalid_token""#, #"Digest error="invalid_token""#,
        #"Bearer x_error="invalid_token""#, #"Bearer realm="error=invalid_token""#, #"Bearer error="""#,
        #"Bearer error="Not a code""#, #"Bearer error="eyJhbGciOiJIUzI1NiJ9""#,
    ])
    func `says nothing where nothing plain is said`(field: String) {
        #expect(error(field) == nil)
    }

    @Test func `may be one of several, in one field or more`() {
        #expect(error(#"Basic realm="x""#, #"Bearer error="insufficient_scope""#) == "insufficient_scope")
        #expect(BearerChallenge(in: [#"Basic realm="x""#]) == nil)
        #expect(BearerChallenge(in: []) == nil)
    }

    @Test func `names the scope that is missing`() {
        let challenge = BearerChallenge(in: [#"Bearer error="insufficient_scope", scope="orders  read""#])
        #expect(challenge?.scope == ["orders", "read"])
    }
}
