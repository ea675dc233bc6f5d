// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Configuration
import OAuth
import SessionImport
import System

/// `bearerd import`: begins a session with a refresh token that another program obtained.
struct ImportCommand: IdentityCommand {
    static let name = "import"
    static let summary = "takes over the session that another program kept in a file"
    static let options = formats.map(\.option)

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
    private static let longestFile = 1 << 20

    let operand: IdentityOperand
    private let source: String
    private let format: ImportFormat

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let given = Self.formats.compactMap { option, format in
            arguments.value(option).map { (path: $0, format: format) }
        }
        guard let first = given.first, given.count == 1 else {
            let names = Self.formats.map { "--\($0.option.name) FILE" }.joined(separator: ", ")
            throw CommandFailure(.usage, "what to import? one of \(names)")
        }
        operand = try IdentityOperand(arguments)
        (source, format) = first
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let imported = try read()
        try check(imported, belongsTo: chosen.identity)
        let handover = SessionHandover.imported(
            refreshToken: imported.refreshToken, idToken: imported.idToken, scope: imported.scope)
        let isNew = try chosen.perform(
            .session(identity: chosen.name), body: handover.json,
            here: { session throws(CommandFailure) in try await session.take(imported) },
            reading: { HandoverReport($0)?.isChanged })
        try Console.show(
            "\(chosen.name): \(isNew ? "imported" : "unchanged, it has this session already")\n")
    }

    /// A refresh token that belongs to another client is of no use; sent to another server it is given away.
    private func check(
        _ imported: ImportedSession, belongsTo identity: IdentityConfiguration
    ) throws(CommandFailure) {
        let ours = identity.client.clientID
        if let clientID = imported.clientID, !ours.isEmpty, clientID != ours {
            throw CommandFailure(
                .badData, "\(source): it is the session of another client_id than that of '\(identity.name)'")
        }
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
    /// Some programs keep an issuer with a final slash that it does not have, or without the one it has.
    fileprivate func isSameIssuer(as other: String) -> Bool {
        func trimmed(_ issuer: String) -> Substring {
            issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...]
        }
        return trimmed(self) == trimmed(other)
    }
}
