// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
package import SessionImport

extension Invariants {
    /// Checks the session, or the error, that a file yields.
    package static func violation(of bytes: [UInt8], importedAs format: ImportFormat) -> String? {
        do throws(ImportError) {
            let session = try format.parse(bytes)
            let tokens = [session.refreshToken] + (session.idToken.map { [$0] } ?? [])
            for token in tokens {
                let isPrintable = token.withPlaintext { text in
                    !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
                }
                if !isPrintable { return "a token that no request could hold" }
            }
            return session.scope.contains { $0.isEmpty || $0.contains(" ") }
                ? "a scope token with a space" : nil
        } catch {
            return error.reason.isEmpty ? "an error without words" : nil
        }
    }
}
