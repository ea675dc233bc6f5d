// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer

@testable import BearerdAdmin

extension Invariants {
    private static let adminKey = "fake-admin-key"

    /// Checks how the admin listener reads credentials and a form.
    ///
    /// The input is lines of `A` (`Authorization`), `X` (`X-Bearerd-Admin`) or `C` (`Cookie`), each followed by the field's
    /// value, then an empty line and a form. `KEY` in the input stands for the key, `COOKIE` for what a browser has in its
    /// place.
    package static func violation(adminRequest bytes: [UInt8]) -> String? {
        let cookies = KeyCookies(now: { .now })
        let key = CurrentSecret(Secret(adminKey))
        let pair = cookies.cookie(for: key).prefix { $0 != ";" }
        let text = latin1(bytes).replacing("KEY", with: adminKey).replacing("COOKIE", with: pair)
        let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = (parts.first ?? "").split(separator: "\n")
        func values(_ letter: Character) -> [String] {
            // White space around a value is no part of it (RFC 9110 §5.5).
            let isSpace = { (character: Character) in character == " " || character == "\t" }
            return lines.filter { $0.first == letter }.map { line in
                var value = line.dropFirst().drop(while: isSpace)
                while let last = value.last, isSpace(last) { value.removeLast() }
                return String(value)
            }
        }
        var head = HTTPRequest(method: .get, target: "/")
        head.fields[.host] = "localhost"
        // What no field may hold (RFC 9110 §5.5) never gets so far.
        let given = values("A").filter { head.fields.append(.authorization, $0) }
        let marks = values("X").filter { head.fields.append(.bearerdAdmin, $0) }
        let kept = values("C").filter { head.fields.append(.cookie, $0) }
        let access = AdminAccess(
            hosts: HostList(["localhost"]), key: key, needsKey: true, owners: [], guesses: KeyGuesses(),
            cookies: cookies)
        let stranger = ServiceRequest(head: head, body: [], peer: .ip("192.0.2.1"))
        let isLetIn = (try? access.checkReading(stranger, as: stranger.peer)) != nil

        let keys = given + marks.filter { $0 != "1" }
        let hasCookie = kept.contains { value in
            value.split(separator: ";").contains { $0.drop { $0 == " " } == pair }
        }
        if keys.isEmpty, isLetIn != hasCookie { return isLetIn ? "let in for nothing" : "a cookie refused" }
        if !keys.isEmpty {
            if isLetIn, !keys.allSatisfy({ $0.hasSuffix(adminKey) }) { return "let in with a wrong key" }
            let isRight =
                given.allSatisfy { $0 == "Bearer \(adminKey)" }
                && marks.allSatisfy { $0 == "1" || $0 == adminKey }
            if isRight, !isLetIn { return "the key refused" }
        }
        return parts.count == 2 ? violation(keyForm: latin1(String(parts[1]))) : nil
    }

    private static func violation(keyForm bytes: [UInt8]) -> String? {
        guard let form = KeyForm(bytes) else { return nil }
        if form.key.isEmpty { return "an empty key" }
        switch form.destination {
        case .page, .login: break
        default: return "a form that leads to \(form.destination)"
        }
        let path = form.destination.path
        if !path.hasPrefix("/") || path.hasPrefix("//") { return "a way to another site" }
        if path.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || "\"'<>\\".utf8.contains($0) }) {
            return "a path that is no URL's"
        }
        if AdminResource(path: path) != form.destination { return "a path that leads elsewhere" }
        let written = "key=\(PercentEncoding.encoded(form.key))&next=\(PercentEncoding.encoded(path))"
        guard let again = KeyForm(Array(written.utf8)), again.key == form.key,
            again.destination == form.destination
        else { return "not read again" }
        return nil
    }
}
