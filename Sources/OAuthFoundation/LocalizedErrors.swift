// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OAuth

// `localizedDescription` of each error is its sentence. OAuth itself does without Foundation, and so it cannot say that.

extension ExplainedError where Self: LocalizedError {
    /// The `sentence`, on one line.
    public var errorDescription: String? { description }
}

extension AccessTokenError: LocalizedError {}
extension AuthRuntimeError: LocalizedError {}
extension AuthorizationResponseError: LocalizedError {}
extension AuthorizedRequestError: LocalizedError {}
extension CredentialError: LocalizedError {}
extension ImportError: LocalizedError {}
extension LoginError: LocalizedError {}
extension SessionFailure: LocalizedError {}
extension StoreError: LocalizedError {}
extension TokenError: LocalizedError {}
extension TokenFailure: LocalizedError {}
extension TransportError: LocalizedError {}
