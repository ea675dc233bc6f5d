// SPDX-License-Identifier: Apache-2.0

import FuzzInvariants
import Glibc
import Testing

/// Replays the fuzzers' seeds, and every input that ever broke an invariant.
@Suite struct CorpusTests {
    @Test func `the invariants of request heads hold for the corpus`() throws {
        for file in try Self.files(in: "RequestHead") {
            #expect(Invariants.violation(requestHead: file.bytes) == nil, "\(file.name)")
        }
    }

    @Test func `the invariants of response heads hold for the corpus`() throws {
        for file in try Self.files(in: "ResponseHead") {
            #expect(Invariants.violation(responseHead: file.bytes) == nil, "\(file.name)")
        }
    }

    @Test func `the invariants of chunked coding hold for the corpus`() throws {
        for file in try Self.files(in: "Chunked") {
            #expect(Invariants.violation(chunked: file.bytes) == nil, "\(file.name)")
        }
    }

    private static func files(in folder: String) throws -> [(name: String, bytes: [UInt8])] {
        let tests = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let path = "\(tests)/Fuzz/Corpus/\(folder)"
        let directory = try #require(opendir(path))
        defer { closedir(directory) }
        var files: [(name: String, bytes: [UInt8])] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            files.append((name, try contents(of: "\(path)/\(name)")))
        }
        #expect(files.count >= 20)
        return files
    }

    private static func contents(of path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
