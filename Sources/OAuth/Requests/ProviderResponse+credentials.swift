// SPDX-License-Identifier: Apache-2.0

extension ProviderResponse {
    /// Whether it may mean that the client's credentials arrived garbled.
    var mayBeAboutCredentials: Bool {
        switch status {
        case 401:
            return true
        case 400:
            let code = AnswerBody(body).code
            return code == .invalidClient || code == .unauthorizedClient
        case 403:
            guard case .empty = AnswerBody(body) else { return false }
            return true
        default:
            return false
        }
    }
}
