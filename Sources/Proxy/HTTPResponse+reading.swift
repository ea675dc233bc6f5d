// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Observability

extension HTTPResponse {
    /// What a 401 says is wrong with the token (RFC 6750 3.1).
    var challengeError: ChallengeError {
        for challenge in fields.values(of: .wwwAuthenticate) {
            guard let start = challenge.range(ofASCII: "error=") else { continue }
            let value = challenge[start...].drop { $0 == "\"" }.prefix {
                $0 != "\"" && $0 != "," && $0 != " "
            }
            return ChallengeError(code: String(value))
        }
        return ChallengeError(code: nil)
    }
}

extension String {
    /// The position behind the first occurrence of `text`.
    fileprivate func range(ofASCII text: String) -> Index? {
        let (bytes, wanted) = (Array(utf8), Array(text.utf8))
        guard bytes.count >= wanted.count else { return nil }
        for start in 0...(bytes.count - wanted.count)
        where bytes[start..<(start + wanted.count)].elementsEqual(wanted) {
            return utf8.index(utf8.startIndex, offsetBy: start + wanted.count)
        }
        return nil
    }
}
