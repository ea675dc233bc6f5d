// SPDX-License-Identifier: Apache-2.0

/// The keys of one section, spelled as in the file; the only place that spells them.
protocol ConfigurationKey: RawRepresentable<String>, CaseIterable, Hashable {
    /// Whether its value is a secret, so that `X_file` and `X_credential` may stand in its place.
    var isSecret: Bool { get }
}

extension ConfigurationKey {
    var isSecret: Bool { false }

    /// The key with one of its spellings.
    static func spelled(_ text: String) -> Self? {
        if let key = Self(rawValue: text) { return key }
        for form in SecretForm.allCases where text.hasSuffix(form.suffix) {
            if let key = Self(rawValue: String(text.dropLast(form.suffix.count))), key.isSecret { return key }
        }
        return nil
    }

    /// Every spelling that the section knows.
    static var spellings: [String] {
        allCases.flatMap { key in
            key.isSecret
                ? [key.rawValue] + SecretForm.allCases.map { key.rawValue + $0.suffix } : [key.rawValue]
        }
    }
}

/// Where a secret may be instead of the configuration itself.
enum SecretForm: CaseIterable {
    case file
    case credential

    var suffix: String {
        switch self {
        case .file: "_file"
        case .credential: "_credential"
        }
    }
}
