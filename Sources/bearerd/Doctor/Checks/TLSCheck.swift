// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdSystem

/// `tls`: the provider can be connected to, and its certificate is valid for some time.
enum TLSCheck: IdentityCheck {
    static let id = CheckID.tls
    static let needs = [CheckID.dns]

    /// The remaining days below which a warning is given.
    private static let fewDays: Int64 = 14

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        guard let url = identity.url else { return .skip(identity.withoutAddress) }
        let place = url.origin
        let connector = UpstreamConnector(
            address: UpstreamAddress(url: url, transport: identity.way),
            multis: CurlMultiSet(loop: subject.loop))
        let end: Int64?
        do throws(UpstreamError) {
            end = try await connector.certificateEnd(within: .seconds(10))
        } catch {
            return .fail("\(place): \(error.reason(over: identity.way))", fix: fix(of: error, identity))
        }
        guard url.scheme == .https else { return .ok("\(place) can be connected to, in plain text") }
        guard !identity.way.skipsVerification else {
            return .warn("\(place): nobody checks its certificate", fix: identity.key("insecure_skip_verify"))
        }
        guard let end else { return .ok("\(place): chain and name are right") }
        let days = (end - WallClock.sinceEpoch.components.seconds) / 86400
        let seen = "\(place): chain and name are right, \(days) days are left"
        return days < fewDays ? .warn(seen, fix: "have the provider's certificate renewed") : .ok(seen)
    }

    private static func fix(of error: UpstreamError, _ identity: ExaminedIdentity) -> String {
        switch error {
        case .tlsCertificate(let fault):
            fault.isOfAuthority ? identity.key("ca_file") : "have the provider's certificate mended"
        case .clientCertificate: identity.key("client_certificate_file")
        case .proxy(let failure): failure.mend(by: identity.key("proxy"))
        case .tlsHandshake:
            "if that port speaks plain HTTP, another port or http:// in \(identity.addressKey); "
                + "if it asks for a certificate, \(identity.key("client_certificate_file"))"
        case .greetingTimeout:
            "\(identity.addressKey): what listens there takes the connection and is silent"
        case .connectionRefused, .connectionTimeout, .unreachable, .dnsError, .dnsTimeout:
            wayFix(of: error, identity)
        case .noDescriptors, .noThreads, .busy, .cancelled: "try again: the machine was short of something"
        case .noCommonProtocol, .weakCipher, .otherProtocol, .headTooLarge, .declined, .other:
            "\(key(of: identity)), or the network in between"
        }
    }

    /// The key that says where the provider is connected to.
    private static func key(of identity: ExaminedIdentity) -> String {
        identity.way.connectTo == nil ? identity.addressKey : identity.key("connect_to")
    }

    /// The remedy where the provider cannot be reached, by the cause.
    private static func wayFix(of error: UpstreamError, _ identity: ExaminedIdentity) -> String {
        let key = key(of: identity)
        let place =
            identity.way.connectTo.map { "\($0)" } ?? identity.url.map { "\($0.host):\($0.port)" } ?? key
        return switch error {
        case .dnsError, .dnsTimeout: "the name of \(place) in \(key), or the servers in /etc/resolv.conf"
        case .connectionRefused: "start what should listen at \(place), or mend the port in \(key)"
        case .connectionTimeout: "a firewall on the way to \(place), or the address in \(key)"
        default: "the network on the way to \(place), or the address in \(key)"
        }
    }
}
