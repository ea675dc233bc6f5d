// SPDX-License-Identifier: Apache-2.0

internal import CBearerdQRCode

/// A text as a QR code, which a camera reads from a terminal.
package struct QRCode {
    /// The widest code that a terminal of 80 columns shows with its margins.
    private static let widest = 72
    /// The modules of light around the code (ISO/IEC 18004 §5.3.8).
    private static let margin = 4

    /// The number of modules in a row.
    package let width: Int
    private let modules: [UInt8]

    /// - Returns: nil where libqrencode is not installed, or the text is too long for a terminal.
    package init?(_ text: String) {
        var modules = [UInt8](repeating: 0, count: Self.widest * Self.widest)
        let width = modules.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { Int(bearerd_qrcode(text, $0, buffer.count)) } ?? 0
        }
        guard width > 0, width <= Self.widest else { return nil }
        self.width = width
        self.modules = modules
    }

    /// Returns true if a module is dark; the margin is light.
    package func isDark(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column] == 1
    }

    /// The code for a terminal that draws light on dark: two rows of modules in a line, light ones drawn.
    package var lines: [String] {
        let places = -Self.margin..<width + Self.margin
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { row in
            places.map { column in
                switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }.joined()
        }
    }
}
