// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
import BearerdJSON

/// A response that a ``TokenTransport`` received, whatever its status; it may hold tokens, and is never printed.
public struct TransportResponse: Sendable {
    /// The status code.
    public var status: Int
    package var fields: HTTPFields
    /// The body, or the part of it that arrived.
    public var body: [UInt8]
    /// Why ``body`` is incomplete; nil if it is whole, as it always is unless the request accepts a part.
    public var cutOff: TransportError?
    /// The URL that answered, as error messages name it; ``AuthorizationServer`` sets it and ``errorDescription``.
    package var place = "the provider"
    /// Host and port of that URL; set with ``place``.
    var server: String?
    /// The `error_description` of an error response, as far as it may be shown.
    package var errorDescription: String?

    package init(status: Int, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response as a transport received it; headers with invalid names are dropped.
    public init(status: Int, headers: [NamedValue], body: [UInt8]) {
        self.init(status: status, body: body)
        for header in headers {
            guard let name = HTTPFields.Name(header.name) else { continue }
            fields.append(name, header.value)
        }
    }
}

extension TransportResponse: Redacted {
    /// A fixed text with the status, which shows nothing of the contents.
    public var description: String { "[answer of the authorization server, status \(status)]" }
}

extension TransportResponse {
    /// True if the status says that asking again, unchanged, may work (RFC 9110 §15.5.9, §15.6, RFC 6585 §4).
    var isTemporary: Bool { status >= 500 || status == 408 || status == 429 }

    /// True if the server may have misread the client's credentials.
    var mayBeAboutCredentials: Bool {
        switch status {
        case 401:
            return true
        case 400:
            let code = ResponseBody(body).code
            return code == .invalidClient || code == .unauthorizedClient
        case 403:
            guard case .empty = ResponseBody(body) else { return false }
            return true
        default:
            return false
        }
    }

    /// True for a page, as a portal or a wrong address answers.
    var isPage: Bool {
        fields[.contentType].map { $0.lowercased().hasPrefix("text/html") } ?? false
    }

    /// The server and the status.
    var answered: String {
        "\(place) answered \(status)" + (300..<400 ~= status ? ", a redirect, which is never followed" : "")
    }

    /// The detail of a failure: the server, the status and the error description.
    var failureDetail: String {
        answered + (errorDescription.map { ": \"\($0)\"" } ?? "")
    }

    /// `error_uri` (RFC 6749 §5.2) if it may be shown; nil otherwise.
    var errorPage: String? { ResponseBody(body)[.errorURI]?.string.flatMap(ErrorDescription.page) }

    /// The `error_description` of an error response, without the secrets that `request` carried; nil if there is none to show.
    func errorDescription(answering request: TransferRequest) -> String? {
        let body = ResponseBody(body)
        guard status != 200 || body[.error] != nil, let said = body[.errorDescription]?.string else {
            return nil
        }
        return ErrorDescription(said, beside: body.code?.rawValue, hiding: request.secrets)?.text
    }
}
