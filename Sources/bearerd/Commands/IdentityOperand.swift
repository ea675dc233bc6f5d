// SPDX-License-Identifier: Apache-2.0

/// The identity that a command line names, or leaves out where it goes without saying.
struct IdentityOperand {
    private let file: ConfigurationFile
    private let name: String?

    /// - Throws: what ``ConfigurationFile`` throws.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
        name = arguments.operand
    }

    /// Reads the configuration.
    ///
    /// - Throws: what is wrong with it; a failure of usage where ``IdentityChoice`` finds none.
    func choose() throws(CommandFailure) -> ChosenIdentity {
        let configuration = try file.load().configuration
        return ChosenIdentity(
            identity: try IdentityChoice.choose(name, in: configuration), configuration: configuration)
    }
}
