// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPFields {
    /// Appends every field line, without the empty line that ends a head (RFC 9112 §5).
    ///
    /// Lines that are adjacent in the block are copied together.
    package func serialize(into output: inout [UInt8]) {
        output.append(addingCapacity: serializedRoom) { serialize(into: &$0) }
    }

    /// The most bytes that ``serialize(into:)`` appends; a line may get a space that it lacked.
    var serializedRoom: Int { block.count &+ entries.count }

    func serialize(into output: inout OutputSpan<UInt8>) {
        let bytes = block.bytes.span
        var run = 0..<0
        for entry in entries {
            if entry.isCanonical, Int(entry.nameStart) == run.upperBound {
                run = run.lowerBound..<entry.lineEnd
                continue
            }
            output.append(copying: bytes.extracting(run))
            if entry.isCanonical {
                run = Int(entry.nameStart)..<entry.lineEnd
            } else {
                writeNormalized(entry, of: bytes, into: &output)
                run = 0..<0
            }
        }
        output.append(copying: bytes.extracting(run))
    }

    /// Writes a line that had other white space than one space after the colon.
    private func writeNormalized(_ entry: Entry, of bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>)
    {
        output.append(copying: bytes.extracting(entry.nameRange))
        output.append(Byte.colon)
        output.append(Byte.space)
        output.append(copying: bytes.extracting(entry.valueRange))
        output.append(Byte.carriageReturn)
        output.append(Byte.lineFeed)
    }
}
