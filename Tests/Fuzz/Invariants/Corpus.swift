// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The fuzzers' seeds, and every input that ever broke an invariant; the tests replay them.
package enum Corpus {
    /// A corpus that is not there, or too small to be whole.
    package struct Incomplete: Error {
        let path: String
    }

    /// The files of one fuzzer.
    ///
    /// - Throws: when there are fewer than twenty, or one cannot be read.
    package static func files(of fuzzer: String) throws -> [(name: String, bytes: [UInt8])] {
        let fuzz = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let path = "\(fuzz)/Corpus/\(fuzzer)"
        guard let directory = opendir(path) else { throw Incomplete(path: path) }
        defer { closedir(directory) }
        var files: [(name: String, bytes: [UInt8])] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            files.append((name, try contents(of: "\(path)/\(name)")))
        }
        guard files.count >= 20 else { throw Incomplete(path: path) }
        return files
    }

    private static func contents(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Incomplete(path: path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
