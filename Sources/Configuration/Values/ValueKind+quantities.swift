// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

extension ValueKind<Duration> {
    /// `500ms`, `30s`, `5m`, `1h`, or `0`.
    static var duration: ValueKind {
        ValueKind(
            .either(
                .integer(0...0),
                .pattern("^([0-9]+(ms|s|m|h)|0+)$", form: "a duration like 500ms, 30s, 5m or 1h"))
        ) { scalar throws(ValueError) in
            guard let quantity = Quantity(scalar.text), let milliseconds = quantity.milliseconds
            else { throw ValueError("'\(scalar.written)' is not a duration like 500ms, 30s, 5m or 1h") }
            guard milliseconds <= longestMilliseconds
            else { throw ValueError("\(scalar.written) is more than a year") }
            return .milliseconds(milliseconds)
        }
    }

    /// A duration that is not zero.
    static var positiveDuration: ValueKind {
        duration.map { duration throws(ValueError) in
            guard duration > .zero else { throw ValueError("must be more than 0") }
            return duration
        }
    }

    /// A year: far more than any time-out needs, and far from an overflow.
    fileprivate static var longestMilliseconds: Int64 { 366 * 24 * 3_600_000 }
}

extension ValueKind<Int> {
    /// `64KiB`, `1MiB`, `1GiB`, or bytes without a unit.
    static func size(in range: ClosedRange<Int>) -> ValueKind {
        ValueKind(.size(range)) { scalar throws(ValueError) in
            guard let bytes = scalar.typed.integer ?? Quantity(scalar.text)?.bytes
            else { throw ValueError("'\(scalar.written)' is not a size like 65536, 64KiB or 1MiB") }
            guard let size = Int(exactly: bytes), range.contains(size) else {
                throw ValueError(
                    "\(scalar.written) is not in \(range.lowerBound)...\(range.upperBound) bytes")
            }
            return size
        }
    }
}

extension Duration {
    /// Reads a duration as in the configuration: `500ms`, `30s`, `5m`, `1h`.
    package init?(configured text: String) {
        guard let milliseconds = Quantity(text)?.milliseconds,
            milliseconds <= ValueKind<Duration>.longestMilliseconds
        else { return nil }
        self = .milliseconds(milliseconds)
    }
}

/// A number and its unit, as in `30s`.
private struct Quantity {
    let number: Int64
    let unit: Substring

    init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits) else { return nil }
        self.number = number
        unit = text[digits.endIndex...]
    }

    /// The number in milliseconds, clamped to the largest one.
    var milliseconds: Int64? {
        switch unit {
        case "ms": number
        case "s": times(1_000)
        case "m": times(60_000)
        case "h": times(3_600_000)
        case "" where number == 0: 0
        default: nil
        }
    }

    /// The number in bytes, clamped to the largest one.
    var bytes: Int64? {
        switch unit {
        case "", "B": number
        case "KiB": times(1 << 10)
        case "MiB": times(1 << 20)
        case "GiB": times(1 << 30)
        default: nil
        }
    }

    private func times(_ factor: Int64) -> Int64 {
        let product = number.multipliedReportingOverflow(by: factor)
        return product.overflow ? .max : product.partialValue
    }
}
