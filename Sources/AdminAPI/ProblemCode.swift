// SPDX-License-Identifier: Apache-2.0

package import OAuth

/// The `code` of a problem, for programs: an open set, because providers' own words are in it.
package struct ProblemCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The code of a provider's failure.
    package init(_ reason: TokenFailure.Reason) { rawValue = reason.code }

    package static let accessDenied = ProblemCode(rawValue: "access_denied")
    package static let badRequest = ProblemCode(rawValue: "bad_request")
    package static let bodyTooLarge = ProblemCode(rawValue: "body_too_large")
    package static let busy = ProblemCode(rawValue: "busy")
    package static let configInvalid = ProblemCode(rawValue: "config_invalid")
    package static let draining = ProblemCode(rawValue: "draining")
    package static let headersTooLarge = ProblemCode(rawValue: "headers_too_large")
    package static let loginExpired = ProblemCode(rawValue: "login_expired")
    package static let loginOutdone = ProblemCode(rawValue: "login_outdone")
    package static let loginRefused = ProblemCode(rawValue: "login_refused")
    package static let loginRequired = ProblemCode(rawValue: "login_required")
    package static let methodNotAllowed = ProblemCode(rawValue: "method_not_allowed")
    package static let misconfigured = ProblemCode(rawValue: "misconfigured")
    package static let noRoute = ProblemCode(rawValue: "no_route")
    package static let noFile = ProblemCode(rawValue: "no_file")
    package static let notImplemented = ProblemCode(rawValue: "not_implemented")
    package static let rateLimited = ProblemCode(rawValue: "rate_limited")
    package static let requestTimeout = ProblemCode(rawValue: "request_timeout")
    package static let restartNeeded = ProblemCode(rawValue: "restart_needed")
    package static let spentImport = ProblemCode(rawValue: "import_spent")
    package static let storeUnavailable = ProblemCode(rawValue: "store_unavailable")
    package static let unavailable = ProblemCode(rawValue: "idp_unavailable")
    package static let uriTooLong = ProblemCode(rawValue: "uri_too_long")
    package static let versionNotSupported = ProblemCode(rawValue: "version_not_supported")
    package static let wrongHost = ProblemCode(rawValue: "wrong_host")
    /// An id token that is invalid.
    package static let badIDToken = ProblemCode(.badIDToken)
}
