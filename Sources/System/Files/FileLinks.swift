// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The symbolic links on the way to a file.
enum FileLinks {
    /// More links than the kernel follows.
    private static let most = 40

    /// The directories, by their real paths, in which the links on the way to `path` stand, and those in which the targets
    /// of these links stand; none for a path without links.
    static func places(of path: String) -> Set<String> {
        var places: Set<String> = []
        var place = path.hasPrefix("/") ? "" : realPath(".") ?? ""
        var rest = path.split(separator: "/").map(String.init)[...]
        var count = 0
        while let name = rest.popFirst() {
            if name == "." { continue }
            if name == ".." {
                place = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
                continue
            }
            let next = "\(place)/\(name)"
            guard count < most, let target = target(of: next) else {
                place = next
                continue
            }
            count += 1
            places.insert(place.isEmpty ? "/" : place)
            let names = target.split(separator: "/").map(String.init)
            let beginning = target.hasPrefix("/") ? "" : place
            if let parent = realPath("\(beginning)/\(names.dropLast().joined(separator: "/"))") {
                places.insert(parent)
            }
            rest = (names + rest)[...]
            place = beginning
        }
        return places
    }

    /// The path without links (`realpath`); nil where there is nothing, or nothing that we may see.
    static func realPath(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// The target of a link; nil for everything that is none.
    private static func target(of path: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count =
                buffer.baseAddress.map { start in
                    start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                        max(0, readlink(path, $0, buffer.count))
                    }
                } ?? 0
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
