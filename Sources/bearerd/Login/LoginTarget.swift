// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import OAuth

/// The destination of a login: the store or, if that cannot be opened, the daemon.
struct LoginTarget {
    /// The time for the daemon's answer in addition to the person's.
    private static let courtesy = AdminClient.longestAction

    /// The session that asks the provider; it keeps nothing if the daemon does.
    let session: AuthSession
    private let daemon: IdentityDaemon?
    private let storeWait: StoreWait

    /// Opens the store, or looks for the daemon.
    ///
    /// - Throws: a failure of permission if there is neither.
    init(
        of identity: IdentityConfiguration, in configuration: Configuration, of file: String, loop: EventLoop
    ) async throws(CommandFailure) {
        let found: IdentitySession
        var daemon: IdentityDaemon?
        do throws(CommandFailure) {
            found = try await IdentitySession(
                of: identity, in: configuration, of: file, loop: loop, access: .forReplacing)
        } catch {
            daemon = try IdentityDaemon(
                of: identity, in: configuration, of: file, loop: loop, because: error)
            try await daemon?.require()
            if let replaced = await daemon?.replaced { Console.remark(replaced.words) }
            found = try await IdentitySession(
                of: identity, in: configuration, of: file, loop: loop, access: .none)
        }
        if let replaced = await found.replaced { Console.remark(replaced.words) }
        session = found.session
        self.daemon = daemon
        storeWait = await StoreWait(of: session, loop: loop)
    }

    /// Ends the session of the command.
    func end() async { await storeWait.end() }

    /// Redeems the code of a finished login, and makes the tokens the session.
    func logIn(with code: AuthorizationCode) async -> Result<Login?, CommandFailure> {
        await finish(.code(code)) { () throws(LoginError) in try await session.logIn(with: code) }
    }

    /// Waits for a person's decision on another device.
    func logIn(with device: DeviceAuthorization) async -> Result<Login?, CommandFailure> {
        let lifetime = device.expiry - .now
        return await finish(
            .device(
                code: device.code, verifier: device.verifier, interval: device.interval, lifetime: lifetime,
                binding: device.binding),
            within: lifetime
        ) { () throws(LoginError) in try await session.logIn(with: device) }
    }

    /// Stores the code of a finished login, to be redeemed later.
    func keep(_ code: AuthorizationCode) async -> Result<Login?, CommandFailure> {
        await finish(.kept(code)) { () throws(LoginError) in
            do throws(StoreError) {
                try await session.keep(code)
                return nil
            } catch {
                throw .unstored(error)
            }
        }
    }

    private func finish(
        _ transfer: SessionTransfer, within limit: Duration = .zero,
        here: () async throws(LoginError) -> Login?
    ) async -> Result<Login?, CommandFailure> {
        guard let daemon else {
            do throws(LoginError) {
                return .success(try await here())
            } catch {
                return .failure(CommandFailure(error, of: session.identity))
            }
        }
        do throws(CommandFailure) {
            let report = try await daemon.ask(
                for: .session(identity: session.identity), body: transfer.json,
                waitingAtMost: limit + Self.courtesy
            ) { SessionTransferReport($0) }
            return .success(report.login)
        } catch {
            return .failure(error)
        }
    }
}
