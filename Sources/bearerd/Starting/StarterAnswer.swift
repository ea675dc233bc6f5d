// SPDX-License-Identifier: Apache-2.0

import OAuth

/// One thing that the smallest configuration needs to be told; the raw value is the option that tells it.
enum StarterAnswer: String, CaseIterable, Sendable {
    case upstream
    case issuer
    case clientID = "client-id"
    case clientSecretFile = "client-secret-file"
    case scope
    case audience
    case preset
    case listen
    case redirectURI = "redirect-uri"

    /// The option of the command line.
    var option: CommandOption {
        switch self {
        case .upstream: CommandOption(rawValue, value: "URL", "the API that requests go to")
        case .issuer: CommandOption(rawValue, value: "URL", "the provider, as it calls itself")
        case .clientID: CommandOption(rawValue, value: "ID", "the client that is registered there")
        case .clientSecretFile: CommandOption(rawValue, value: "FILE", "a file that holds its secret")
        case .scope: CommandOption(rawValue, value: "SCOPE", "what is asked for, words in one argument")
        case .audience:
            CommandOption(rawValue, value: "AUDIENCE", "whom the token is for, where the provider asks")
        case .preset:
            CommandOption(
                rawValue, value: "NAME",
                "what fits a provider or a workload: "
                    + Preset.allCases.map(\.rawValue).joined(separator: ", "))
        case .listen:
            CommandOption(rawValue, value: "ADDRESS", "where programs send plain HTTP (127.0.0.1:8080)")
        case .redirectURI:
            CommandOption(rawValue, value: "URI", "where a login comes back to, with a fixed port")
        }
    }

    /// The key of the configuration that has it.
    var key: String {
        switch self {
        case .upstream, .issuer, .scope, .audience, .preset, .listen: rawValue
        case .clientID: "client_id"
        case .clientSecretFile: "client_secret_file"
        case .redirectURI: "redirect_uri"
        }
    }

    /// The answer that a problem of the configuration is about, by the last key of its path.
    init?(path: String) {
        let key = path.split(separator: ".").last.map { $0.prefix { $0 != "[" } } ?? ""
        let spelling = key == "client_secret" ? "client_secret_file" : key
        guard let answer = Self.allCases.first(where: { $0.key == spelling }) else { return nil }
        self = answer
    }
}
