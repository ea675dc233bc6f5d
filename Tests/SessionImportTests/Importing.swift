// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdFuzzInvariants
import SessionImport

/// A file of a fuzzer's corpus, or a text, as each test reads it.
enum Importing {
    /// What a file says, tokens in the clear.
    struct Outcome: Equatable {
        var refreshToken: String?
        var idToken: String?
        var scope: [String] = []
        var clientID: String?
        var issuer: String?
        var error: ImportError?
    }

    static func text(_ text: String, as format: ImportFormat) -> Outcome {
        bytes(Array(text.utf8), as: format)
    }

    static func bytes(_ bytes: [UInt8], as format: ImportFormat) -> Outcome {
        do throws(ImportError) {
            let session = try format.parse(bytes)
            return Outcome(
                refreshToken: session.refreshToken.withPlaintext { $0 },
                idToken: session.idToken?.withPlaintext { $0 },
                scope: session.scope, clientID: session.clientID, issuer: session.issuer)
        } catch {
            return Outcome(error: error)
        }
    }

    /// Reads a file of a corpus.
    static func seed(_ name: String, of fuzzer: String, as format: ImportFormat) throws -> Outcome {
        let file = try Corpus.files(of: fuzzer).first { $0.name == name }
        return bytes(file?.bytes ?? [], as: format)
    }
}
