// SPDX-License-Identifier: Apache-2.0

import Foundation
public import OAuth

/// Something that is one JSON object, which a program may read into a type of its own.
public protocol ClaimsHolder {
    /// All of it as one JSON object.
    var json: String { get }
}

extension ClaimsHolder {
    /// The claims as a value of a type of the program's own.
    ///
    /// Moments are read as RFC 7519 §2 has them, in seconds since 1970.
    ///
    /// - Throws: what `JSONDecoder` throws; it may quote a claim.
    public func decoded<Claims: Decodable>(as type: Claims.Type = Claims.self) throws -> Claims {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return try decoder.decode(type, from: Data(json.utf8))
    }
}

extension IDToken: ClaimsHolder {}
extension Userinfo: ClaimsHolder {}
extension VerifiedAccessToken: ClaimsHolder {}
extension AdditionalParameters: ClaimsHolder {}
extension ServiceConfiguration: ClaimsHolder {}
