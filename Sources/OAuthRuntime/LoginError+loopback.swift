// SPDX-License-Identifier: Apache-2.0

package import OAuth

extension LoginError {
    /// Turns the failure of a redirect to loopback into a login's error.
    package init(_ failure: LoopbackLogin.Failure) {
        switch failure {
        case .address(let reason), .shortage(let reason): self = .unusableRedirect(reason)
        case .request(let failure): self = .failed(failure)
        case .expired: self = .expired
        case .cancelled: self = .cancelled
        case .foreign(let reason):
            self = .failed(
                TokenFailure(.final, .issuerMismatch, detail: "the answer is not believed: \(reason)"))
        case .refused(let refusal): self = .refused(refusal)
        }
    }

    /// The error for a redirect URI that cannot be awaited here.
    static func unusableRedirect(_ detail: String) -> LoginError {
        .failed(TokenFailure(.misconfigured, .badRedirectURI, detail: detail))
    }
}
