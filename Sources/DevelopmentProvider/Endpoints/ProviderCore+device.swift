// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth

extension ProviderCore {
    private static let deviceLifetime: Duration = .seconds(600)
    /// The letters of user codes, without vowels and look-alikes, so that they form no words (RFC 8628 §6.1).
    private static let userCodeLetters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// The device authorization endpoint (RFC 8628 §3.1).
    mutating func authorizeDevice(
        _ request: ServiceRequest, at now: WallTime
    ) throws(ProviderError) -> ServiceReply {
        let form = try request.formParameters()
        let client = try authenticatedClient(request, form)
        let device = DeviceGrant(
            clientID: client.id, scope: try scope(form[.scope]), audience: audience(form),
            userCode: ProviderCore.makeUserCode())
        let page = settings.issuer + ProviderEndpoint.device.rawValue
        var answer: JSONObject = [:]
        answer[.deviceCode] = .string(devices.insert(device, for: ProviderCore.deviceLifetime, at: now))
        answer[.userCode] = .string(device.userCode)
        answer[.verificationURI] = .string(page)
        answer[.verificationURIComplete] = .string(
            "\(page)?\(Parameter.userCode.rawValue)=\(PercentEncoding.encoded(device.userCode))")
        answer[.expiresIn] = .integer(ProviderCore.deviceLifetime.components.seconds)
        answer[.interval] = .integer(Int64(device.interval))
        return .json(answer)
    }

    /// The page on which the device's user decides (RFC 8628 §3.3).
    mutating func device(_ request: ServiceRequest, at now: WallTime) throws(ProviderError) -> ServiceReply {
        let form = try request.parameters()
        let typed = form[.userCode]
        guard request.head.method == .post else { return devicePage(typed) }
        guard let user = user(form) else { return devicePage(typed, problem: "Wrong name or password.") }
        let wanted = (typed ?? "").uppercased().filter { ProviderCore.userCodeLetters.contains($0) }
        let found = devices.first(at: now) { device in
            guard case .pending = device.decision else { return false }
            return device.userCode.filter { $0 != "-" } == wanted
        }
        guard let (key, waiting) = found else { return devicePage(typed, problem: "There is no such code.") }
        var device = waiting
        if form[.decision] == "cancel" {
            device.decision = .denied
        } else {
            device.decision = .approved(
                AuthorizationGrant(
                    family: SecureRandom.word(), clientID: device.clientID, subject: user.name,
                    authenticatedAt: now, scope: device.scope, audience: device.audience))
        }
        devices.update(key, device)
        return .page(SmallPage(title: "Done", content: "<p>Your device goes on by itself.</p>"))
    }

    /// Redeems a device code (RFC 8628 §3.4).
    mutating func redeemDeviceCode(
        _ form: FormParameters, _ client: DevelopmentClient, _ key: String?, at now: WallTime
    ) throws(ProviderError) -> ServiceReply {
        let code = try form.required(.deviceCode)
        guard var device = devices.find(code, at: now), device.clientID == client.id else {
            throw ProviderError(.expiredToken, "the device code is unknown or expired")
        }
        switch device.decision {
        case .approved(var grant):
            devices.remove(code)
            grant.keyThumbprint = key
            return issueTokens(for: grant, refreshable: true, at: now)
        case .denied:
            devices.remove(code)
            throw ProviderError(.accessDenied, "the user said no")
        case .pending:
            let isTooSoon = device.lastPoll.map { now - $0 < .seconds(device.interval) } ?? false
            device.lastPoll = now
            if isTooSoon { device.interval += 5 }
            devices.update(code, device)
            throw isTooSoon
                ? ProviderError(.slowDown, "wait \(device.interval) seconds between two requests")
                : ProviderError(.authorizationPending, "the user has not decided yet")
        }
    }

    private func devicePage(_ userCode: String?, problem: String? = nil) -> ServiceReply {
        let alert: HTMLText = problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" } ?? ""
        let page = SmallPage(
            title: "Connect a device",
            content: """
                \(alert)<form method="post" action="\(ProviderEndpoint.device.rawValue)">
                <label>Code <input name="\(Parameter.userCode.rawValue)" value="\(userCode ?? "")"
                autocomplete="off" required></label>
                \(ProviderCore.credentialInputs)
                <button>Allow</button>
                <button name="\(Parameter.decision.rawValue)" value="cancel">Refuse</button>
                </form>
                """)
        return .page(page)
    }

    private static func makeUserCode() -> String {
        var random = SystemRandomNumberGenerator()
        let letters = (0..<8).map { _ in userCodeLetters.randomElement(using: &random) ?? "B" }
        return String(letters.prefix(4)) + "-" + String(letters.suffix(4))
    }
}
