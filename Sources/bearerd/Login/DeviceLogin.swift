// SPDX-License-Identifier: Apache-2.0

import EventLoop
import OAuth

/// A login on another device (RFC 8628), from the code to the stored session.
struct DeviceLogin {
    let session: AuthSession
    let loop: EventLoop
    /// Gives up after this time, or when the code expires.
    let limit: Duration

    /// Prints where to go and what to type there, and waits.
    func run() async throws(CommandFailure) -> Login? {
        let device: DeviceAuthorization
        do throws(TokenFailure) {
            device = try await session.authorizeDevice().expiring(by: .now + limit)
        } catch {
            throw CommandFailure(error, of: session.identity)
        }
        try Console.show(Self.instructions(for: device))
        let login: Result<Login, LoginError>
        do throws(LoginError) {
            login = .success(try await session.logIn(with: device))
        } catch {
            login = .failure(error)
        }
        await session.stop()
        do throws(LoginError) {
            return try login.get()
        } catch {
            throw CommandFailure(error, of: session.identity)
        }
    }

    private static func instructions(for device: DeviceAuthorization) -> String {
        var text = "visit \(device.verificationURI)\nenter \(device.userCode)\n"
        if let complete = device.completeVerificationURI { text += "or visit \(complete)\n" }
        return text
    }
}
