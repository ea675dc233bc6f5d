// SPDX-License-Identifier: Apache-2.0

extension ClientConfiguration {
    /// Longer lifetimes mean nothing, ten years: sums of them stay far from overflow.
    static let longestLifetime: Duration = .seconds(315_360_000)

    /// What contradicts itself or the protocol, each as a sentence; empty if all is well.
    public var problems: [String] {
        var problems: [String] = []
        func check(_ parameters: [NamedValue], _ name: String, _ isBuiltIn: (String) -> Bool) {
            for parameter in parameters {
                if parameter.name.isEmpty {
                    problems.append("\(name): a parameter needs a name")
                } else if isBuiltIn(parameter.name) {
                    problems.append("\(name): '\(parameter.name)' clashes with a built-in parameter")
                }
            }
        }
        check(authorizationParameters, "authorizationParameters") {
            AuthorizationParameter(rawValue: $0) != nil
        }
        check(tokenParameters, "tokenParameters") { TokenParameter(rawValue: $0) != nil }
        check(deviceParameters, "deviceParameters") {
            AuthorizationParameter(rawValue: $0) != nil || TokenParameter(rawValue: $0) != nil
        }
        check(revocationParameters, "revocationParameters") {
            EndingParameter(rawValue: $0) != nil || TokenParameter(rawValue: $0) != nil
        }
        check(endSessionParameters, "endSessionParameters") { EndingParameter(rawValue: $0) != nil }
        check(registrationParameters, "registrationParameters") { RegistrationMember(rawValue: $0) != nil }
        if name.isEmpty { problems.append("name: is empty") }
        if issuer == nil, discoveryURL == nil, endpoints[.token] == nil, endpoints[.authorization] == nil {
            problems.append("issuer: is missing, and there is neither discoveryURL nor a token endpoint")
        }
        let lifetimes: [(String, Duration, Duration)] = [
            ("defaultLifetime", defaultLifetime, .milliseconds(1)), ("clockSkew", clockSkew, .zero),
            ("tokenTimeLimit", tokenTimeLimit, .zero), ("refreshMargin", refreshMargin ?? .zero, .zero),
        ]
        for (name, value, least) in lifetimes where value < least || value > Self.longestLifetime {
            problems.append("\(name): is not between 0 and ten years")
        }
        return problems
    }
}
