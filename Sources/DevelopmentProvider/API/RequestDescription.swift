// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON

/// Describes requests as JSON, with secrets redacted.
enum RequestDescription {
    /// Method, target, host and peer.
    static func line(_ request: ServiceRequest) -> JSONObject {
        [
            "method": .string(request.head.method.rawValue),
            "path": .string(request.path),
            "query": request.query.map(JSONValue.string) ?? nil,
            "host": request.head.fields[.host].map(JSONValue.string) ?? nil,
            "peer": .string(request.peer.text),
        ]
    }

    /// The request with every header, in order, and the body as text, or as base64 if it is not UTF-8.
    static func full(_ request: ServiceRequest) -> JSONObject {
        var description = line(request)
        var headers: [JSONValue] = []
        request.head.fields.forEach { name, value in
            let isSecret = HTTPFields.Name(name) == .authorization
            headers.append(["name": .string(name), "value": .string(isSecret ? "[redacted]" : value)])
        }
        description["headers"] = .array(headers)
        if let text = String(validating: request.body, as: UTF8.self) {
            description["body"] = .string(text)
        } else {
            description["body_base64"] = .string(Base64.encode(request.body))
        }
        return description
    }
}
