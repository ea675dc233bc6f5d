// SPDX-License-Identifier: Apache-2.0

internal import AdminAPI
internal import OAuth
internal import Observability

/// The status page: plain HTML that needs no script and no network, in light and dark.
enum StatusPage {
    /// Renders the page; the browser asks again every five seconds.
    static func render(_ status: StatusDocument) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="refresh" content="5">
        <title>bearerd</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
        table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }
        th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8884; vertical-align: top }
        .authorized { color: light-dark(#176f2c, #6fdd8b) }
        .login_required, .misconfigured, .authorization_error, .idp_unavailable { color: light-dark(#a11, #ff8f8f) }
        </style>
        <h1>bearerd \(escaped(status.version))</h1>
        \(status.warnings.map { "<p class=\"misconfigured\">\(escaped($0))" }.joined(separator: "\n"))
        <h2>Identities</h2>
        <table>
        <tr><th>Name<th>State<th>Token expires<th>Last refresh<th>Last error
        \(status.identities.map(row).joined(separator: "\n"))
        </table>
        <h2>Routes</h2>
        <table>
        <tr><th>Path<th>Upstream<th>Identity
        \(status.routes.map(row).joined(separator: "\n"))
        </table>
        """
    }

    private static func row(_ identity: IdentityStatus) -> String {
        let state = identity.state.rawValue
        let error = identity.lastError?.sentence ?? ""
        return
            "<tr><td>\(escaped(identity.name))<td class=\"\(state)\">\(state)<td>\(text(identity.expiresAt))"
            + "<td>\(text(identity.lastRefresh))<td>\(escaped(error))"
    }

    private static func row(_ route: RouteStatus) -> String {
        "<tr><td>\(escaped(route.path))<td>\(escaped(route.upstream))<td>\(escaped(route.identity ?? "none"))"
    }

    private static func text(_ time: WallTime?) -> String {
        time.map { Timestamp.text(unixSeconds: $0.secondsSinceEpoch) } ?? ""
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
