// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import OAuth

/// `bearerd login`: begins or replaces an identity's session by a login.
struct LoginCommand: IdentityCommand {
    static let name = "login"
    static let summary = "logs somebody in, with a browser or on another device"
    static let options = [noBrowser, device, noExchange, redirectURI, timeout]

    private static let noBrowser = CommandOption(
        "no-browser", "prints the URL alone, and waits for the redirect")
    private static let device = CommandOption(
        "device", "prints a code to type in on another device, on a terminal as a QR code too")
    private static let noExchange = CommandOption(
        "no-exchange", "stops at the code; 'exchange' finishes the login")
    private static let redirectURI = CommandOption(
        "redirect-uri", value: "URI", "prints the URL and ends; 'exchange' takes the URL that answers it")
    private static let timeout = CommandOption("timeout", value: "DURATION", "waits at most so long (5m)")

    let operand: IdentityOperand
    private let usesBrowser: Bool
    private let usesDevice: Bool
    private let isExchanged: Bool
    /// The redirect URI of another program, to which the answer goes; nil to receive it here.
    private let redirectURI: String?
    private let limit: Duration

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        usesBrowser = !arguments.has(Self.noBrowser)
        usesDevice = arguments.has(Self.device)
        isExchanged = !arguments.has(Self.noExchange)
        guard !usesDevice || isExchanged && usesBrowser else {
            throw CommandFailure(.usage, "--device needs neither a browser nor an exchange")
        }
        redirectURI = arguments.value(Self.redirectURI)
        if let redirectURI {
            guard !usesDevice, AuthorizationRequest.canReturn(to: redirectURI) else {
                throw CommandFailure(.usage, "--redirect-uri is an absolute URI, and not for --device")
            }
        }
        limit = try arguments.duration(Self.timeout) ?? .seconds(300)
        operand = try IdentityOperand(arguments)
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let (identity, configuration) = (chosen.identity, chosen.configuration)
        let grantType = identity.client.grantType
        guard grantType.needsPerson else {
            throw CommandFailure(.usage, "\(identity.name): nobody logs in for \(grantType.shortName)")
        }
        let isOnDevice = usesDevice || grantType == .deviceCode
        guard !isOnDevice || isExchanged && redirectURI == nil else {
            throw CommandFailure(
                .usage, "\(identity.name): --no-exchange and --redirect-uri are for logins in a browser")
        }
        if isOnDevice, let profile = identity.client.profile, !profile.grantTypes.contains(.deviceCode) {
            throw CommandFailure(
                .usage,
                "\(identity.name): profile \(profile.rawValue) has no logins on another device: use a browser"
            )
        }
        if let redirectURI { return try begin(chosen, redirectURI) }
        let login = try CommandLoop.run { loop throws(CommandFailure) in
            let target = try await LoginTarget(
                of: identity, in: configuration, of: chosen.file, loop: loop)
            if isOnDevice { return try await DeviceLogin(target: target, loop: loop, limit: limit).run() }
            let browserLogin = BrowserLogin(
                identity: identity, target: target, loop: loop, limit: limit,
                browser: usesBrowser ? Browser() : nil, isExchanged: isExchanged,
                adviceOnDaemon: { configuration.adviceOnDaemonsLogin(of: identity) })
            return try await browserLogin.run()
        }
        Console.remark(
            "\(identity.name): \(login?.message ?? "the code is kept; 'bearerd exchange' finishes the login")"
        )
    }

    /// Begins a login whose answer arrives at another program, which passes its URL to `exchange`.
    private func begin(_ chosen: ChosenIdentity, _ redirectURI: String) throws(CommandFailure) {
        let request = try CommandLoop.run { loop throws(CommandFailure) in
            try await IdentitySession(
                of: chosen.identity, in: chosen.configuration, of: chosen.file, loop: loop
            )
            .beginLogin(redirectURI: redirectURI)
        }
        try Console.show("\(request.url)\n")
        let end =
            request.lifetime.map {
                "; the provider forgets this request in \(max(1, $0.components.seconds)) s: then begin anew"
            } ?? ""
        Console.remark(
            "\(chosen.name): 'bearerd exchange' takes the URL that answers this, on standard input\(end)")
    }
}

extension Login {
    /// The message after a login; it names the person only on a terminal, because output is often kept.
    var message: String {
        let name = LoginWait.isWatched ? personName.map { " as \($0.prefix(200))" } ?? "" : ""
        guard !hasRefreshToken else { return "logged in\(name)" }
        return "logged in\(name), but no refresh token came back: the session ends with its access token; "
            + "ask for scope offline_access (Google: authorization_params: {access_type: offline})"
    }
}
