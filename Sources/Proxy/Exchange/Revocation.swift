// SPDX-License-Identifier: Apache-2.0

/// Why an exchange would not be begun any more, and since when.
struct Revocation {
    /// The version of what holds that brought it.
    let version: Int
    let ending: OwnEnding
}
