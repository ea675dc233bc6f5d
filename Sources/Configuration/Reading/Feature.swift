// SPDX-License-Identifier: Apache-2.0

/// A part of the contract that has keys or values of its own.
///
/// Its keys are always known to the reader. While it is in ``notYetSupported`` they are refused, never ignored.
enum Feature: CaseIterable {
    case dpop
    case pushedAuthorizationRequests
    case keyringStore
    case redisStore

    /// The one table of what is still to be built; building a part ends with deleting its line.
    static let notYetSupported: Set<Feature> = [
        .dpop,
        .pushedAuthorizationRequests,
        .keyringStore,
        .redisStore,
    ]

    var isSupported: Bool { !Feature.notYetSupported.contains(self) }
}
