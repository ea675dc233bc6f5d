// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `tls.client_ca_file`.
@Suite(.blocking) struct `A client's certificate` {
    @Test(arguments: [TLSClient.tls12, TLSClient.tls13])
    func `is needed, and by the right authority`(version: Int32) throws {
        let clients = try TLSAuthority()
        let strangers = try TLSAuthority()
        let site = try SecureSite(clientAuthority: clients)
        #expect(try site.serves(site.tls(certificate: clients.client(), highest: version)))
        #expect(try !site.serves(site.tls(highest: version)))
        #expect(try !site.serves(site.tls(certificate: strangers.client(), highest: version)))
        #expect(site.sidecar.upstream.requests.count == 1)
        #expect(try site.refusals() == 2)
    }

    @Test func `that is missing is what the client is told`() throws {
        let clients = try TLSAuthority()
        let site = try SecureSite(clientAuthority: clients)
        let port = try site.sidecar.bearerd.proxy.port
        let seen = try Subprocess.run([
            "/bin/sh", "-c",
            "(printf 'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'; sleep 1) "
                + "| /usr/bin/openssl s_client -connect 127.0.0.1:\(port) 2>&1",
        ]).output
        #expect(seen.contains("certificate required"))
    }

    @Test func `of an authority that is no longer in the file is refused, resumed session or not`() throws {
        let before = try TLSAuthority()
        let after = try TLSAuthority()
        let site = try SecureSite(clientAuthority: before)
        let (old, new) = (
            try site.tls(certificate: before.client()), try site.tls(certificate: after.client())
        )
        #expect(try site.serves(old) && !site.serves(new))
        try site.install(after)
        try eventually("the new authority to count") { try site.serves(new) }
        #expect(try !site.serves(old))
    }
}
