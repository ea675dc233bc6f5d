// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
internal import BearerdPropertyList

/// The format in which another program kept its session.
public enum ImportFormat: CaseIterable, Sendable {
    /// A refresh token alone, on one line.
    case refreshToken
    /// The persistence string of gtm-oauth2 and of GTMAppAuth, in any of its three dialects.
    case gtmOAuth2
    /// The JSON of AppAuth for Android.
    case appAuthAndroid
    /// The keyed archive of AppAuth for iOS and macOS, or of GTMAppAuth around one; binary or XML.
    case appAuthArchive

    /// Reads a file of this format.
    public func parse(_ bytes: [UInt8]) throws(ImportError) -> ImportedSession {
        switch self {
        case .refreshToken:
            return try ImportedSession(refreshToken: Self.line(bytes))
        case .gtmOAuth2:
            return try GTMOAuth2String(Self.line(bytes)).session()
        case .appAuthAndroid:
            guard let object = try? JSONObject(parsing: bytes)
            else { throw .malformed("it is no JSON object") }
            return try AndroidAuthState(object).session()
        case .appAuthArchive:
            return try ArchivedAuthState(KeyedArchive(Self.propertyList(bytes))).imported()
        }
    }

    private static func propertyList(_ bytes: [UInt8]) throws(ImportError) -> PropertyListValue {
        do throws(PropertyListError) {
            return try PropertyListValue(parsing: bytes)
        } catch {
            switch error {
            case .malformed: throw .malformed("it is no property list")
            case .tooComplex: throw .malformed("it is no archive of a session: far too large or too deep")
            }
        }
    }

    /// The text of a file, without its line end.
    private static func line(_ bytes: [UInt8]) throws(ImportError) -> String {
        var text = bytes[...]
        if text.last == UInt8(ascii: "\n") { text.removeLast() }
        if text.last == UInt8(ascii: "\r") { text.removeLast() }
        guard let line = String(validating: text, as: UTF8.self) else { throw .malformed("it is no text") }
        return line
    }
}
