// SPDX-License-Identifier: Apache-2.0

/// Keeps from libplist XML that it does not survive.
///
/// Freeing a tree recurses, so that a deep one would use up the stack; a key with a U+0000 aborts the process.
enum XMLShape {
    /// Refuses U+0000, written out or as a reference, and more containers than may be nested in each other.
    static func check(_ bytes: [UInt8]) throws(PropertyListError) {
        var containers = 0
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 0:
                throw .malformed
            case UInt8(ascii: "<"):
                let rest = bytes[(index + 1)...]
                if rest.starts(with: "dict".utf8) || rest.starts(with: "array".utf8) { containers += 1 }
            case UInt8(ascii: "&"):
                // No archiver writes a reference that begins with a zero.
                let rest = bytes[(index + 1)...]
                if ["#0", "#x0", "#X0"].contains(where: { rest.starts(with: $0.utf8) }) { throw .malformed }
            default:
                break
            }
        }
        guard containers <= BinaryShape.maximumContainers else { throw .tooComplex }
    }
}
