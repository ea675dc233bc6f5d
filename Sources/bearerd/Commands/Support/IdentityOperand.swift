// SPDX-License-Identifier: Apache-2.0

/// The identity on the command line, which may be left out if there is only one.
struct IdentityOperand {
    private let file: ConfigurationFile
    private let name: String?

    /// - Throws: the failure of ``ConfigurationFile``.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
        name = arguments.operand
    }

    /// Reads the configuration and chooses the identity.
    ///
    /// - Throws: the errors of the configuration, or a failure of usage from ``IdentityChoice``.
    func choose() throws(CommandFailure) -> ChosenIdentity {
        let configuration = try file.load().configuration
        return ChosenIdentity(
            identity: try IdentityChoice.choose(name, in: configuration), configuration: configuration,
            file: file.path)
    }
}
