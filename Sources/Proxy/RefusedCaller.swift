// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Texts that tell people which name was refused and which setting allows it.
///
/// A name is repeated only if it is a valid host or origin.
enum RefusedCaller {
    /// The text for a `Host` that is not one of the listener's.
    static func host(_ host: String?) -> String {
        guard let host = PlainName.host(host) else {
            return "This listener does not answer to the request's Host; access.hosts lists those it does."
        }
        return
            "This listener does not answer to the host '\(host)'; if it is one of its names, add it to access.hosts."
    }

    /// The text for an `Origin` or `Referer` that is not allowed.
    static func origin(_ origin: String?) -> String {
        guard let origin = PlainName.origin(origin) else {
            return
                "The request comes from a page whose origin cannot be told; only pages of access.origins may call."
        }
        return
            "Pages of '\(origin)' may not call this listener; if they should, add that origin to access.origins."
    }
}
