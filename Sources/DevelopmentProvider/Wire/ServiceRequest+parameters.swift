// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdHTTPServer

extension ServiceRequest {
    private static let formType = "application/x-www-form-urlencoded"

    /// The parameters of the query.
    ///
    /// - Throws: `invalid_request`.
    func queryParameters() throws(ProviderError) -> FormParameters {
        try FormParameters(Array((query ?? "").utf8))
    }

    /// The parameters of the body.
    ///
    /// - Throws: `invalid_request`, also for a body of another type.
    func formParameters() throws(ProviderError) -> FormParameters {
        let type = head.fields[.contentType]?.lowercased().split(separator: ";").first
        guard type.map({ $0 == ServiceRequest.formType || $0 == ServiceRequest.formType + " " }) == true
        else {
            throw ProviderError(.invalidRequest, "the body must be \(ServiceRequest.formType)")
        }
        return try FormParameters(body)
    }

    /// The parameters of the body for POST, else those of the query.
    ///
    /// - Throws: `invalid_request`.
    func parameters() throws(ProviderError) -> FormParameters {
        head.method == .post ? try formParameters() : try queryParameters()
    }

    /// The credentials of an `Authorization` field with that scheme (RFC 9110 §11.6.2).
    func credentials(_ scheme: String) -> String? {
        guard let value = head.fields[.authorization], let blank = value.firstIndex(of: " "),
            value[..<blank].lowercased() == scheme.lowercased()
        else { return nil }
        return String(value[blank...].drop { $0 == " " })
    }

    /// The value of a cookie (RFC 6265 §5.4).
    func cookie(_ name: String) -> String? {
        for pair in (head.fields[.cookie] ?? "").split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == name { return String(parts[1]) }
        }
        return nil
    }
}
