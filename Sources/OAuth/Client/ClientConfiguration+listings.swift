// SPDX-License-Identifier: Apache-2.0

import Cryptography

extension ClientConfiguration {
    /// The secrets among the configured parameters and headers, such as an API key in `token_headers`.
    var listings: [SecretListing] {
        let said =
            tokenHeaders + userinfoHeaders + tokenParameters + authorizationParameters + deviceParameters
            + revocationParameters + endSessionParameters + registrationParameters
        return said.filter { AdditionalParameters.soundsSecret($0.name) }
            .map { SecretListing(Array($0.value.utf8)) }
    }
}
