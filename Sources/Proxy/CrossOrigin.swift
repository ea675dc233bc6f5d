// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The CORS protocol (Fetch standard, section 3.2) for pages of `access.origins`.
enum CrossOrigin {
    /// Returns true for a preflight, with which a browser asks before a page's real request.
    static func isPreflight(_ request: HTTPRequest) -> Bool {
        request.method == .options && request.fields.has(.origin)
            && request.fields.has(.accessControlRequestMethod)
    }

    /// The answer to a preflight from an allowed origin.
    static func answer(toPreflight fields: HTTPFields) -> HTTPResponse {
        var response = HTTPResponse(status: 204)
        vary(&response.fields)
        allow(fields[.origin], in: &response.fields)
        response.fields[.accessControlAllowMethods] = fields[.accessControlRequestMethod]
        if let wanted = fields[.accessControlRequestHeaders] {
            response.fields[.accessControlAllowHeaders] = wanted
        }
        response.fields[.accessControlMaxAge] = "600"
        return response
    }

    /// Tells caches that the response depends on `Origin`: a response to no origin must not be reused for a
    /// page.
    static func vary(_ fields: inout HTTPFields) {
        if !fields.containsToken("origin", in: .vary) { fields.append(.vary, "Origin") }
    }

    /// Lets the page at `origin` read the response, instead of the origins that the upstream may have named.
    static func allow(_ origin: String?, in fields: inout HTTPFields) {
        guard let origin else { return }
        fields[.accessControlAllowOrigin] = origin
        fields[.accessControlAllowCredentials] = "true"
    }
}
