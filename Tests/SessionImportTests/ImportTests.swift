// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import SessionImport
import Testing

/// Sessions that other programs kept.
@Suite struct `Imported sessions` {
    @Test(arguments: [
        ("KeyedArchive", ImportFormat.appAuthArchive), ("AndroidAuthState", .appAuthAndroid),
        ("GTMOAuth2", .gtmOAuth2),
    ])
    func `no file of the corpora breaks an invariant`(fuzzer: String, format: ImportFormat) throws {
        for file in try Corpus.files(of: fuzzer) {
            #expect(Invariants.violation(of: file.bytes, importedAs: format) == nil, "\(file.name)")
        }
    }

    @Test func `a file of one format is refused as another, in words`() throws {
        for (fuzzer, own) in [
            ("KeyedArchive", ImportFormat.appAuthArchive), ("AndroidAuthState", .appAuthAndroid),
        ] {
            for file in try Corpus.files(of: fuzzer) where file.name == "full" || file.name == "new.binary" {
                for format in ImportFormat.allCases where format != own {
                    #expect(
                        Importing.bytes(file.bytes, as: format).error?.reason.isEmpty == false, "\(format)")
                }
            }
        }
    }

    // MARK: GTMOAuth2

    @Test(arguments: ["a", "b"]) func `the strict dialects are read`(name: String) throws {
        let session = try Importing.seed(name, of: "GTMOAuth2", as: .gtmOAuth2)
        #expect(session == .init(refreshToken: "fake-refresh", scope: ["openid", "profile"]))
    }

    @Test func `the dialect of GTMAppAuth 3 is read, with what it left unescaped`() throws {
        let vector = try Importing.seed("c", of: "GTMOAuth2", as: .gtmOAuth2)
        #expect(vector == .init(refreshToken: "refresh_token", scope: ["profile"]))
        #expect(
            try Importing.seed("c-unescaped", of: "GTMOAuth2", as: .gtmOAuth2).refreshToken == "1/abc#[x]")
        #expect(Importing.text("refresh_token=100%", as: .gtmOAuth2).refreshToken == "100%")
    }

    @Test func `the first equals sign ends a name, the last of equal names counts, a plus is no space`() {
        #expect(Importing.text("refresh_token=abc==", as: .gtmOAuth2).refreshToken == "abc==")
        #expect(Importing.text("refresh_token=a&refresh_token=b", as: .gtmOAuth2).refreshToken == "b")
        #expect(Importing.text("refresh_token=a+b", as: .gtmOAuth2).refreshToken == "a+b")
    }

    @Test func `a refusal is one line for people`() {
        let error = ImportError.noRefreshToken
        #expect("\(error)" == error.sentence)
        #expect(error.sentence.hasPrefix("the file cannot be imported: there is no refresh token"))
    }

    @Test func `an access token alone is refused with that reason`() {
        #expect(Importing.text("access_token=x", as: .gtmOAuth2).error == .noRefreshToken)
    }

    @Test(arguments: ["", "&&", "hello", "refresh_token=a%00b", "refresh_token=%FF", "refresh_token=a\nb"])
    func `a text that is no such string is refused`(text: String) {
        #expect(Importing.text(text, as: .gtmOAuth2).error != nil)
    }

    // MARK: AppAuth for Android

    private static let whole = Importing.Outcome(
        refreshToken: "fake-refresh", idToken: "e30.e30.sig", scope: ["openid", "profile"],
        clientID: "mobile-app",
        issuer: "https://issuer.test")

    @Test(arguments: ["full", "no-config", "token-in-response", "exception"])
    func `a state of AppAuth for Android is read whole`(name: String) throws {
        #expect(try Importing.seed(name, of: "AndroidAuthState", as: .appAuthAndroid) == Self.whole)
    }

    @Test func `a state without a refresh token is refused with that reason`() throws {
        let android = try Importing.seed("no-refresh", of: "AndroidAuthState", as: .appAuthAndroid)
        #expect(android.error == .noRefreshToken)
        let archive = try Importing.seed("norefresh.binary", of: "KeyedArchive", as: .appAuthArchive)
        #expect(archive.error == .noRefreshToken)
    }

    // MARK: Keyed archives

    @Test(arguments: [
        "new.binary", "new.xml", "old.binary", "mutable.xml", "gtm.binary", "gtm.xml", "top.binary",
    ])
    func `an archive is read whole, binary or XML`(name: String) throws {
        var whole = Self.whole
        whole.issuer = "https://issuer.test/"
        #expect(try Importing.seed(name, of: "KeyedArchive", as: .appAuthArchive) == whole)
    }

    @Test(arguments: ["gtm.binary", "gtm.xml"])
    func `what GTMAppAuth knows of the person is read`(name: String) throws {
        let file = try #require(try Corpus.files(of: "KeyedArchive").first { $0.name == name })
        let session = try ImportFormat.appAuthArchive.parse(file.bytes)
        #expect(session.userID == "1" && session.userEmail == "a@b.test" && session.isEmailVerified)
    }

    @Test func `the issuer is that of the configuration, or of the document, or unknown`() throws {
        let given = try Importing.seed("issuer.binary", of: "KeyedArchive", as: .appAuthArchive)
        #expect(given.issuer == "https://issuer.test")
        #expect(try Importing.seed("noissuer.binary", of: "KeyedArchive", as: .appAuthArchive).issuer == nil)
    }

    @Test(arguments: [
        "laughs", "ring", "repeated", "huge-count", "deep.xml", "deep.binary", "uid-ring", "uid-out-of-range",
        "cut",
    ])
    func `an archive that is a bomb, a ring or rubbish is refused`(name: String) throws {
        #expect(try Importing.seed(name, of: "KeyedArchive", as: .appAuthArchive).error != nil)
    }

    @Test func `an archive cut anywhere, or with any byte changed, is read or refused`() throws {
        let archive = try #require(try Corpus.files(of: "KeyedArchive").first { $0.name == "new.binary" })
            .bytes
        for end in archive.indices { _ = Importing.bytes(Array(archive[..<end]), as: .appAuthArchive) }
        for index in archive.indices {
            for change: UInt8 in [0x01, 0xFF] {
                var changed = archive
                changed[index] ^= change
                #expect(Invariants.violation(of: changed, importedAs: .appAuthArchive) == nil)
            }
        }
    }
}
