// SPDX-License-Identifier: Apache-2.0

/// The reason why the Secret Service gives no key.
package enum KeyringError: Error, Equatable, Sendable {
    /// libsecret cannot be loaded; with the loader's reason.
    case noLibrary(String)
    /// There is no session bus, or it refuses us; with the reason.
    case noBus(String)
    /// No program on the bus keeps secrets; with the bus's reason.
    case noService(String)
    /// The key, or the keyring for a new one, is locked, and nobody is there to unlock it.
    case locked
    /// There is no default keyring for a new key.
    case noCollection
    /// The service would ask a person before it keeps a key.
    case asks
    /// No answer came in time.
    case mute
    /// The service or the helper failed; with the reason.
    case failed(String)
    /// Several values have the name.
    case several
    /// The value of this name is no key.
    case foreign
}

extension KeyringError {
    /// True if the Secret Service cannot be used at present; false if its content is wrong.
    package var isUnavailable: Bool {
        switch self {
        case .noLibrary, .noBus, .noService, .locked, .noCollection, .asks, .mute, .failed: true
        case .several, .foreign: false
        }
    }
}

extension KeyringError: CustomStringConvertible {
    /// A sentence about the Secret Service, without a remedy.
    package var description: String {
        switch self {
        case .noLibrary(let reason): "libsecret cannot be loaded; install libsecret-1-0 (\(reason))"
        case .noBus(let reason): "there is no session bus (\(reason))"
        case .noService(let reason): "there is no Secret Service (\(reason))"
        case .locked: "the keyring is locked, and a program without a person cannot unlock it"
        case .noCollection:
            "there is no default keyring that a new key could go into; a login with a password makes one on desktops"
        case .asks: "the Secret Service would ask a person before it keeps a new key"
        case .mute: "the Secret Service does not answer"
        case .failed(let reason): "the Secret Service fails (\(reason))"
        case .several: "the keyring holds several values of this name; remove all but the right one"
        case .foreign: "what the keyring holds by this name is not 32 bytes; nothing is written over it"
        }
    }
}
