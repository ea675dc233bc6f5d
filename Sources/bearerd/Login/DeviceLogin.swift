// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import OAuth

/// A login on another device (RFC 8628), from the code to the stored session.
struct DeviceLogin {
    let target: LoginTarget
    let loop: EventLoop
    /// Gives up after this time, or when the code expires.
    let limit: Duration

    /// Prints where to go and what to type there, and waits.
    func run() async throws(CommandFailure) -> Login? {
        let device: DeviceAuthorization
        do throws(TokenFailure) {
            device = try await target.session.authorizeDevice().expiring(by: .now + limit)
        } catch {
            throw CommandFailure(error, of: target.session.identity)
        }
        try Console.show(Self.instructions(for: device))
        LoginWait.tell(device.expiry - .now)
        let login = await target.logIn(with: device)
        await target.session.stop()
        return try login.get()
    }

    private static func instructions(for device: DeviceAuthorization) -> String {
        var text = "visit \(device.verificationURI)\nenter \(device.userCode)\n"
        if let complete = device.completeVerificationURI { text += "or visit \(complete)\n" }
        return text
    }
}
