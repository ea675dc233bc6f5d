// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension ValueKind<UInt32> {
    /// A user, by number or name; the largest number is refused: to the kernel it means nobody.
    static var user: ValueKind {
        ValueKind<String>.text.map { text throws(ValueError) in
            if text.utf8.allSatisfy(\.isDigit) {
                guard let user = UInt32(text), user < .max
                else { throw ValueError("\(text) is not in 0...\(UInt32.max - 1)") }
                return user
            }
            guard let user = UserName.number(of: text) else {
                throw ValueError("there is no user '\(text)' on this machine; a uid need not have a name")
            }
            return user
        }
    }
}
