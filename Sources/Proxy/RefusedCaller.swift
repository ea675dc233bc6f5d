// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Says to people which of their names was refused, and which key lets it in; names it only if it could stand there.
enum RefusedCaller {
    /// Tells of a `Host` that is not the listener's.
    static func host(_ host: String?) -> String {
        guard let host = PlainName.host(host) else {
            return "This listener does not answer to the request's Host; access.hosts lists those it does."
        }
        return
            "This listener does not answer to the host '\(host)'; if it is one of its names, add it to access.hosts."
    }

    /// Tells of the origin in an `Origin` or `Referer` that is not admitted.
    static func origin(_ origin: String?) -> String {
        guard let origin = PlainName.origin(origin) else {
            return
                "The request comes from a page whose origin cannot be told; only pages of access.origins may call."
        }
        return
            "Pages of '\(origin)' may not call this listener; if they should, add that origin to access.origins."
    }
}
