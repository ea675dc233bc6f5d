// SPDX-License-Identifier: Apache-2.0

/// The version of this program.
enum Version {
    static let text = "0.1.0"
}
