// SPDX-License-Identifier: Apache-2.0
//
// What a program that kept a GTMOAuth2 string, or used GTMAppAuth, does to move here: it takes the session over once, into
// a store of its own, goes on as the client that began it, and can write the string again for a version that reads it.
//
//     swift run --package-path Examples GTMMigration STRING_FILE STORE_DIRECTORY ISSUER OLD_CLIENT_ID

import Glibc
import OAuthRuntime
import OneFileStore
import SessionImport
import StoreConformance

func say(_ line: String) {
    print(line)
    fflush(nil)
}

func read(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return bytes
}

/// What a test of the program does with its store.
func checkStore(in directory: String) async throws {
    let store = OneFileStore(directory: directory)
    try await SessionStoreConformance(isShared: false) { store }.verify()
    say("the store keeps its promises")
}

func run(file: String, directory: String, issuer: String, oldClientID: String) async throws {
    // For Google it would be `ClientConfiguration.google(name: "default", clientID: "…")`.
    var client = ClientConfiguration(
        name: "default", clientID: "the-new-client", grantType: .authorizationCode)
    client.issuer = issuer

    let runtime = try AuthRuntime(storage: .custom(OneFileStore(directory: directory)))
    let session = try runtime.session(for: client)
    await session.start()
    if await session.needsLogin {
        let old = try ImportFormat.gtmOAuth2.parse(read(file))
        try await session.take(
            old.refreshToken, idToken: old.idToken, scope: old.scope, clientID: oldClientID,
            person: Person(id: old.userID, email: old.userEmail, isEmailVerified: old.isEmailVerified))
        say("taken over")
    } else {
        say("taken over before")
    }
    say("userinfo: \(try await session.userinfo().subject) as \(await session.clientID)")
    let person = await session.person
    say("person: \(person?.id ?? "unknown"), \(person?.email ?? "no address")")

    // GTMAppAuth's "save in GTMOAuth2 format".
    if let token = await session.refreshToken,
        var written = ImportedSession(refreshToken: token, scope: await session.scope)
    {
        written.userID = person?.id
        written.userEmail = person?.email
        written.isEmailVerified = person?.isEmailVerified ?? false
        let text = written.gtmOAuth2String.withPlaintext { $0 }
        say("written again: \(text.split(separator: "&").count) fields")
    }
    await session.stop()
}

let arguments = CommandLine.arguments
do {
    switch arguments.count {
    case 3 where arguments[1] == "--check":
        try await checkStore(in: arguments[2])
    case 5:
        try await run(
            file: arguments[1], directory: arguments[2], issuer: arguments[3], oldClientID: arguments[4])
    default:
        say("usage: GTMMigration STRING_FILE STORE_DIRECTORY ISSUER OLD_CLIENT_ID | --check DIRECTORY")
        exit(64)
    }
} catch {
    say("GTMMigration: \(error)")
    exit(1)
}
