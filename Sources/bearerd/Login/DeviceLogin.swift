// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdQRCode
import BearerdSystem
import OAuth

/// A login on another device (RFC 8628), from the code to the stored session.
struct DeviceLogin {
    let target: LoginTarget
    let loop: EventLoop
    /// The time after which the login is given up; the code may expire earlier.
    let limit: Duration

    /// Prints the address and the code for the person, and waits.
    func run() async throws(CommandFailure) -> Login? {
        let device: DeviceAuthorization
        do throws(TokenFailure) {
            device = try await target.session.authorizeDevice().expiring(by: .now + limit)
        } catch {
            throw CommandFailure(error, of: target.session.identity)
        }
        try Console.show(Self.instructions(for: device))
        if CurrentProcess.isTerminal(1), CurrentProcess.environment("TERM") != "dumb" {
            try Console.show(Self.code(for: device))
        }
        LoginWait.tell(device.expiry - .now)
        let login = await target.logIn(with: device)
        await target.end()
        return try login.get()
    }

    /// The page to visit for a camera; empty where no library draws it.
    private static func code(for device: DeviceAuthorization) -> TerminalText {
        let url = "\(device.completeVerificationURI ?? device.verificationURI)"
        var text = TerminalText()
        for line in QRCode(url)?.lines ?? [] {
            text.append(line, .lightOnDark)
            text.append("\n")
        }
        return text
    }

    private static func instructions(for device: DeviceAuthorization) -> String {
        var text = "visit \(device.verificationURI)\nenter \(device.userCode)\n"
        if let complete = device.completeVerificationURI { text += "or visit \(complete)\n" }
        return text
    }
}
