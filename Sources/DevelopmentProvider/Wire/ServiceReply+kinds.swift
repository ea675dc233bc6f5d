// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON

extension ServiceReply {
    /// A JSON answer that must not be cached.
    static func json(_ object: JSONObject, status: Int = 200) -> ServiceReply {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = "application/json"
        head.fields[.cacheControl] = "no-store"
        return ServiceReply(head: head, body: .bytes(object.serialized(pretty: true)))
    }

    /// An error of the endpoints that answer with JSON (RFC 6749 §5.2).
    static func refusal(_ error: ProviderError) -> ServiceReply {
        var reply = json(
            [
                Member.error.rawValue: .string(error.code.rawValue),
                Member.errorDescription.rawValue: .string(error.description),
            ], status: error.status)
        if error.status == 401 { reply.head.fields[.wwwAuthenticate] = #"Basic realm="token endpoint""# }
        return reply
    }

    /// An answer with only its status text as the body.
    static func plain(status: Int) -> ServiceReply {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = "text/plain; charset=utf-8"
        head.fields[.cacheControl] = "no-store"
        return ServiceReply(head: head, body: .bytes(Array("\(head.reason)\n".utf8)))
    }

    /// Redirects the browser with GET (RFC 9110 §15.4.4).
    ///
    /// - Parameters:
    ///   - uri: without a fragment; it may have a query.
    ///   - parameters: added to the query.
    /// - Returns: the answer.
    static func redirect(to uri: String, _ parameters: [(Parameter, String?)] = []) -> ServiceReply {
        var location = uri
        for case (let parameter, let value?) in parameters {
            location += location.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
            location += parameter.rawValue + "=" + PercentEncoding.encoded(value)
        }
        var head = HTTPResponse(status: 303)
        head.fields[.location] = location
        head.fields[.cacheControl] = "no-store"
        return ServiceReply(head: head)
    }

    /// A page for a person.
    static func page(_ page: SmallPage, status: Int = 200) -> ServiceReply {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = "text/html; charset=utf-8"
        head.fields[.cacheControl] = "no-store"
        // No form-action: Chrome applies it to where the form's answer redirects, which is the client.
        head.fields[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
        head.fields.append(HTTPFields.Name(known: "Referrer-Policy"), "no-referrer")
        head.fields.append(HTTPFields.Name(known: "X-Content-Type-Options"), "nosniff")
        return ServiceReply(head: head, body: .bytes(page.bytes))
    }
}
