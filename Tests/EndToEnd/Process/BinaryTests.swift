// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What stands in the built file itself.
struct `The binary` {
    private let file = ExecutableFile(TemporaryDirectory.contents(of: BearerdProcess.binary))

    @Test func `can be loaded anywhere, and no page of it is written and run`() throws {
        let file = try #require(file)
        #expect(file.isPositionIndependent)
        #expect(file.segments.contains { $0.type == ExecutableFile.relocatedReadOnly })
        let stack = try #require(file.segments.first { $0.type == ExecutableFile.stack })
        #expect(!stack.isExecutable)
        #expect(!file.segments.contains { $0.isExecutable && $0.isWritable })
    }

    /// The one that is handed out, which needs no Swift to run; a debug build finds Swift's libraries by a path.
    @Test func `finds libraries where the system has them, binds them first, and guards the stack of C code`()
        throws
    {
        let file = try #require(file)
        guard !file.needsSwift else { return }
        #expect(!file.hasLibraryPath)
        #expect(file.isBoundAtOnce)
        #expect(file.names("__stack_chk_fail"))
    }
}

/// As much of an ELF file of 64 bits as these tests ask for (elf(5)).
private struct ExecutableFile {
    struct Segment {
        let type: UInt32
        let isExecutable: Bool
        let isWritable: Bool
    }

    static let stack: UInt32 = 0x6474_E551
    static let relocatedReadOnly: UInt32 = 0x6474_E552
    private static let dynamic: UInt32 = 2

    let isPositionIndependent: Bool
    private(set) var segments: [Segment] = []
    private let bytes: [UInt8]
    private var entries: [(tag: UInt64, value: UInt64)] = []

    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return nil }
        func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
            bytes[offset..<offset + Number.bitWidth / 8].reversed().reduce(0) { $0 << 8 | Number($1) }
        }
        self.bytes = bytes
        isPositionIndependent = number(at: 16, UInt16.self) == 3
        let table = Int(number(at: 32, UInt64.self))
        let size = Int(number(at: 54, UInt16.self))
        for index in 0..<Int(number(at: 56, UInt16.self)) {
            let start = table + index * size
            let type = number(at: start, UInt32.self)
            let flags = number(at: start + 4, UInt32.self)
            segments.append(Segment(type: type, isExecutable: flags & 1 != 0, isWritable: flags & 2 != 0))
            guard type == Self.dynamic else { continue }
            var offset = Int(number(at: start + 8, UInt64.self))
            while case let tag = number(at: offset, UInt64.self), tag != 0 {
                entries.append((tag, number(at: offset + 8, UInt64.self)))
                offset += 16
            }
        }
    }

    /// `DT_RPATH` or `DT_RUNPATH`.
    var hasLibraryPath: Bool { entries.contains { $0.tag == 15 || $0.tag == 29 } }

    /// `DT_BIND_NOW`, `DF_BIND_NOW` or `DF_1_NOW`.
    var isBoundAtOnce: Bool {
        entries.contains {
            $0.tag == 24 || $0.tag == 30 && $0.value & 8 != 0 || $0.tag == 0x6FFF_FFFB && $0.value & 1 != 0
        }
    }

    /// Whether Swift's library is one that the system has to find.
    var needsSwift: Bool { names("libswiftCore.so") }

    func names(_ text: String) -> Bool { bytes.firstRange(of: Array(text.utf8) + [0]) != nil }
}
