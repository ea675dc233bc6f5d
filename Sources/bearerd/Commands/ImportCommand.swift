// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdJSONText
import BearerdSystem
import OAuth
import SessionImport

/// `bearerd import`: begins a session with a refresh token that another program obtained.
struct ImportCommand: IdentityCommand {
    static let name = "import"
    static let summary = "takes over the session that another program kept in a file"
    static let options = formats.map(\.option) + [keepClient]

    private static let formats: [(option: CommandOption, format: ImportFormat)] = [
        (CommandOption("refresh-token", value: "FILE", "one line of printable ASCII"), .refreshToken),
        (
            CommandOption("gtm-oauth2", value: "FILE", "a persistence string of GTMOAuth2 or GTMAppAuth"),
            .gtmOAuth2
        ),
        (CommandOption("appauth-android", value: "FILE", "the JSON of AppAuth for Android"), .appAuthAndroid),
        (
            CommandOption("appauth-archive", value: "FILE", "the keyed archive of AppAuth for iOS and macOS"),
            .appAuthArchive
        ),
    ]
    private static let keepClient = CommandOption(
        "keep-client", "the session stays that of the file's client_id until the next login")
    private static let longestFile = 1 << 20

    let operand: IdentityOperand
    private let source: String
    private let format: ImportFormat
    private let keepsClient: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let given = Self.formats.compactMap { option, format in
            arguments.value(option).map { (path: $0, format: format) }
        }
        guard let first = given.first, given.count == 1 else {
            let names = Self.formats.map { "--\($0.option.name) FILE" }.joined(separator: ", ")
            throw CommandFailure(
                .usage,
                given.isEmpty ? "what to import? one of \(names)" : "one file at a time: of \(names) give one"
            )
        }
        operand = try IdentityOperand(arguments)
        (source, format) = first
        keepsClient = arguments.has(Self.keepClient)
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        guard chosen.identity.client.grantType.needsPerson else {
            throw CommandFailure(
                .permission, "\(chosen.name): its grant needs no person, so there is no session to take")
        }
        let imported = try read()
        let clientID = try grantClient(of: imported, for: chosen.identity)
        try checkIssuer(of: imported, for: chosen.identity)
        let transfer = SessionTransfer.imported(
            refreshToken: imported.refreshToken, idToken: imported.idToken, scope: imported.scope,
            clientID: clientID, person: imported.person, binding: chosen.identity.client.binding)
        let isNew = try chosen.perform(
            .session(identity: chosen.name), body: transfer.json,
            here: { session throws(CommandFailure) in
                if let replaced = await session.replaced, !replaced.outlasts(imported.refreshToken) {
                    Console.remark(replaced.words)
                }
                return try await session.take(imported, of: clientID)
            },
            reading: { SessionTransferReport($0)?.isChanged })
        try Console.show(
            "\(chosen.name): \(isNew ? "imported" : "unchanged, it has this session already")\n")
        guard isNew, clientID != nil else { return }
        Console.remark(
            "\(chosen.name): it goes on as the client that it was obtained by, until the next login")
    }

    /// The client to which the session stays bound, because no other may use its refresh token (RFC 6749 §6).
    ///
    /// - Returns: nil for the identity's own client.
    /// - Throws: a failure if it is another client's, perhaps by a wrong file, unless `--keep-client` was
    ///   given.
    private func grantClient(
        of imported: ImportedSession, for identity: IdentityConfiguration
    ) throws(CommandFailure) -> String? {
        let ours = identity.client.clientID
        guard keepsClient else {
            if let clientID = imported.clientID, !ours.isEmpty, !clientID.hasSameBytes(as: ours) {
                throw CommandFailure(
                    .badData,
                    "\(source): it is the session of another client_id than that of '\(identity.name)'; if that client needs "
                        + "no secret, --keep-client goes on with it until the next login")
            }
            return nil
        }
        guard let clientID = imported.clientID, !clientID.isEmpty, WireGrammar.isPlain(clientID) else {
            throw CommandFailure(
                .badData, "\(source): it does not tell its client_id; import it without --keep-client")
        }
        return clientID.hasSameBytes(as: ours) ? nil : clientID
    }

    /// Refuses a session of another issuer, because sending a token to another server gives it away.
    private func checkIssuer(
        of imported: ImportedSession, for identity: IdentityConfiguration
    ) throws(CommandFailure) {
        if let issuer = imported.issuer, let ours = identity.client.issuer, !issuer.isSameIssuer(as: ours) {
            throw CommandFailure(
                .badData, "\(source): it is a session with another issuer than that of '\(identity.name)'")
        }
    }

    private func read() throws(CommandFailure) -> ImportedSession {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileSystem.read(source, limit: Self.longestFile).bytes
        } catch {
            if error.isTooLarge { throw CommandFailure(.badData, "\(source): it is too large for a session") }
            throw CommandFailure(
                error.isMissing ? .missingInput : .inputOutput,
                "\(source): \(SystemError.text(of: error.code))")
        }
        do throws(ImportError) {
            return try format.parse(bytes)
        } catch {
            throw CommandFailure(.badData, "\(source): \(error.reason)")
        }
    }
}

extension String {
    /// Compares issuers without their final slash, which some programs add or drop.
    fileprivate func isSameIssuer(as other: String) -> Bool {
        func trimmed(_ issuer: String) -> String {
            issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        }
        return trimmed(self).hasSameBytes(as: trimmed(other))
    }
}

extension ImportedSession {
    /// The person of the session; nil if the file does not tell.
    var person: Person? {
        guard userID != nil || userEmail != nil else { return nil }
        return Person(id: userID, email: userEmail, isEmailVerified: isEmailVerified)
    }
}
