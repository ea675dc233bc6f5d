// SPDX-License-Identifier: Apache-2.0

/// The keys of one section; they are spelled here and nowhere else.
protocol ConfigurationKey: RawRepresentable<String>, CaseIterable, Hashable {
    /// True if the value is a secret, so that `X_file` and `X_credential` may stand in its place.
    var isSecret: Bool { get }
}

extension ConfigurationKey {
    var isSecret: Bool { false }

    /// The key that has this spelling.
    static func spelled(_ text: String) -> Self? { allCases.first { $0.spellings.contains(text) } }

    /// Every spelling that the section knows.
    static var spellings: [String] { allCases.flatMap(\.spellings) }

    /// The spellings of the key: with each suffix too if it is a secret's.
    var spellings: [String] {
        [rawValue] + (isSecret ? SecretForm.allCases.map { rawValue + $0.rawValue } : [])
    }
}

/// The two forms of a secret that is kept outside the configuration, with the suffixes of their keys.
enum SecretForm: String, CaseIterable {
    case file = "_file"
    case credential = "_credential"
}
