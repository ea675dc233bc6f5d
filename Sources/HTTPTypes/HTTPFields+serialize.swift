// SPDX-License-Identifier: Apache-2.0

extension HTTPFields {
    /// Appends every field line, without the empty line that ends a head (RFC 9112 §5).
    ///
    /// Neighbours that stand together in the block are copied together.
    package func serialize(into output: inout [UInt8]) {
        var runStart = 0
        var runEnd = 0
        for entry in entries {
            if entry.isCanonical, Int(entry.nameStart) == runEnd {
                runEnd = entry.lineEnd
                continue
            }
            if runStart < runEnd { output.append(contentsOf: block[runStart..<runEnd]) }
            if entry.isCanonical {
                runStart = Int(entry.nameStart)
                runEnd = entry.lineEnd
            } else {
                writeNormalized(entry, into: &output)
                runStart = 0
                runEnd = 0
            }
        }
        if runStart < runEnd { output.append(contentsOf: block[runStart..<runEnd]) }
    }

    /// Writes a line that came with other white space than one space after the colon.
    private func writeNormalized(_ entry: Entry, into output: inout [UInt8]) {
        output.append(block.span.extracting(entry.nameRange))
        output.append(Byte.colon)
        output.append(Byte.space)
        output.append(block.span.extracting(entry.valueRange))
        output.append(Byte.carriageReturn)
        output.append(Byte.lineFeed)
    }
}
