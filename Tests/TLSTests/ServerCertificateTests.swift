// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTLS
import BearerdTestSupport
import Testing

@Suite(.blocking) struct `A server's certificate` {
    private let authority: TLSAuthority

    init() throws { authority = try TLSAuthority() }

    private func contents(
        _ files: (certificateFile: String, keyFile: String)
    ) -> (chain: [UInt8], key: Secret) {
        let key = Secret(bytes: TemporaryDirectory.contents(of: files.keyFile))
        return (TemporaryDirectory.contents(of: files.certificateFile), key)
    }

    @Test func `is told with its names and its time`() throws {
        let (chain, key) = contents(try authority.certificate(for: ["a.test", "::1", "127.0.0.1"]))
        let context = try ServerContext(chain: chain, key: key)
        #expect(context.certificate.names == ["a.test", "::1", "127.0.0.1"])
        #expect(context.certificate.end - context.certificate.start == 86_400)
        #expect(context.clientAuthorityCount == nil)
        let authorities = TemporaryDirectory.contents(of: authority.certificateFile)
        let strict = try ServerContext(chain: chain, key: key, clientAuthorities: authorities + authorities)
        #expect(strict.clientAuthorityCount == 2)
    }

    @Test func `is refused with a reason when it cannot serve`() throws {
        let (chain, key) = contents(try authority.certificate(for: ["a.test"]))
        let other = contents(try authority.certificate(for: ["b.test"]))
        let nothing = Array("no PEM".utf8)
        #expect(throws: ContextError.noCertificate) { try ServerContext(chain: nothing, key: key) }
        #expect(throws: ContextError.noKey) {
            try ServerContext(chain: chain, key: Secret(bytes: nothing))
        }
        #expect(throws: ContextError.mismatch) { try ServerContext(chain: chain, key: other.key) }
        #expect(throws: ContextError.noAuthority) {
            try ServerContext(chain: chain, key: key, clientAuthorities: nothing)
        }
        let past = contents(try authority.certificate(for: ["a.test"], days: -1))
        let failure = #expect(throws: ContextError.self) {
            try ServerContext(chain: past.chain, key: past.key)
        }
        guard case .expired = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
