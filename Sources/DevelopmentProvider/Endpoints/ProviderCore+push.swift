// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPServer
import BearerdJSON
import OAuth

extension ProviderCore {
    private static let pushedLifetime: Duration = .seconds(60)
    /// The beginning of a pushed request's reference (RFC 9126 §2.2).
    private static let referencePrefix = "urn:ietf:params:oauth:request_uri:"

    /// The pushed authorization request endpoint (RFC 9126 §2).
    mutating func push(_ request: ServiceRequest, at now: WallTime) throws(ProviderError) -> ServiceReply {
        let form = try request.formParameters()
        let client = try authenticatedClient(request, form)
        guard form[.requestURI] == nil else {
            throw ProviderError(.invalidRequest, "request_uri is what this endpoint gives out")
        }
        let redirectURI = try form.required(.redirectURI)
        guard client.mayRedirect(to: redirectURI) else {
            throw ProviderError(.invalidRequest, "this redirect URI is not registered for the client")
        }
        var wanted = try pendingAuthorization(form, client, redirectURI)
        if let key = try provenKey(request, at: .pushedAuthorizationRequest, now) {
            guard wanted.keyThumbprint ?? key == key else {
                throw ProviderError(.invalidRequest, "dpop_jkt is not the key of the proof (RFC 9449)")
            }
            wanted.keyThumbprint = key
        }
        let word = pushed.insert(wanted, for: ProviderCore.pushedLifetime, at: now)
        return .json(
            [
                Member.requestURI.rawValue: .string(ProviderCore.referencePrefix + word),
                Member.expiresIn.rawValue: .integer(ProviderCore.pushedLifetime.components.seconds),
            ], status: 201)
    }

    /// Takes a pushed request by its reference, which is valid for one use (RFC 9126 §4).
    mutating func takePushed(
        _ reference: String, of client: DevelopmentClient, at now: WallTime
    ) -> PendingAuthorization? {
        guard reference.hasPrefix(ProviderCore.referencePrefix) else { return nil }
        let word = String(reference.dropFirst(ProviderCore.referencePrefix.count))
        guard let wanted = pushed.find(word, at: now), wanted.clientID == client.id else { return nil }
        pushed.remove(word)
        return wanted
    }
}
