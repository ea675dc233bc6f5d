// SPDX-License-Identifier: Apache-2.0

/// The keys at the top of the file.
enum RootKey: String, ConfigurationKey {
    case listen
    case unsafeListen = "unsafe_listen"
    case tls
    case workers
    case access
    case limits
    case timeouts
    case shutdown
    case onStateChange = "on_state_change"
    case development
    case log
    case audit
    case telemetry
    case admin
    case identities
    case routes
    case store
    case reload
}
