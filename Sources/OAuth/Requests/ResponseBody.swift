// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

/// The body of a response that should be a JSON object.
enum ResponseBody: Sendable {
    /// Nothing but white space.
    case empty
    case object(JSONObject)
    /// JSON of another type.
    case otherJSON
    case notJSON

    /// Reads a body; members that cannot be read are left out (see ``DamagedJSONObject``).
    init(_ bytes: [UInt8]) {
        let bytes = bytes.withoutByteOrderMark
        guard !bytes.allSatisfy({ $0 == 0x20 || 0x09...0x0D ~= $0 }) else {
            self = .empty
            return
        }
        if let value = try? JSONValue(parsing: bytes) {
            self = value.object.map(ResponseBody.object) ?? .otherJSON
        } else {
            let damaged = DamagedJSONObject(bytes)
            self = damaged.isWhole ? .object(damaged.object) : .notJSON
        }
    }

    /// A string member of a body that is not a whole JSON object, such as one that was cut off, or that follows a warning of
    /// the server's program; nil if it is missing or empty.
    static func string(_ member: ResponseMember, inPartial bytes: [UInt8]) -> String? {
        let object = DamagedJSONObject(Array(bytes.drop { $0 != UInt8(ascii: "{") })).object
        let text = object[member.rawValue]?.string
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A member's value; nil if it is missing or `null`.
    subscript(member: ResponseMember) -> JSONValue? {
        guard case .object(let object) = self, let value = object[member.rawValue], value != .null else {
            return nil
        }
        return value
    }

    /// The member `error` (RFC 6749 §5.2) if it is printable; nil otherwise.
    var code: ErrorCode? { self[.error]?.string.flatMap(ErrorCode.init(rawValue:)) }

    /// The members that are not `known`.
    func additionalParameters(except known: [ResponseMember]) -> AdditionalParameters {
        guard case .object(let object) = self else { return AdditionalParameters() }
        return AdditionalParameters(object, except: Set(known.map(\.rawValue)))
    }
}

extension [UInt8] {
    /// JSON needs no byte order mark (RFC 8259 §8.1), but some servers send one.
    var withoutByteOrderMark: [UInt8] {
        starts(with: [0xEF, 0xBB, 0xBF]) ? Array(dropFirst(3)) : self
    }
}

/// A member of a token, device authorization or pushed authorization response, spelled as on the wire.
enum ResponseMember: String {
    // RFC 6749 §5.1, §5.2
    case accessToken = "access_token"
    case tokenType = "token_type"
    case expiresIn = "expires_in"
    case refreshToken = "refresh_token"
    case idToken = "id_token"
    case scope
    case error
    case errorDescription = "error_description"
    case errorURI = "error_uri"
    // RFC 8628 §3.2
    case deviceCode = "device_code"
    case userCode = "user_code"
    case verificationURI = "verification_uri"
    case verificationURL = "verification_url"
    case completeVerificationURI = "verification_uri_complete"
    case interval
    // RFC 9126 §2.2
    case requestURI = "request_uri"
}
