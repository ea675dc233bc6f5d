// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTP1
package import BearerdHTTPMessages

/// How bytes reach a parser.
package enum Feeding: CaseIterable, Sendable {
    /// All at once.
    case whole
    /// One more at each call.
    case byteByByte
    /// In two pieces, cut in the middle.
    case halves

    /// How many bytes are there at each call.
    package func lengths(of count: Int) -> [Int] {
        switch self {
        case .whole: [count]
        case .byteByByte: Array(0...count)
        case .halves: [count / 2, count]
        }
    }
}

/// What came of feeding a parser.
package enum Outcome: Equatable, Sendable {
    /// The head is not complete.
    case incomplete
    /// The head is complete; how many bytes it took.
    case complete(Int)
    /// The head was refused.
    case refused(HTTPParseError)
}

/// Small limits, so that a fuzzer meets them.
package let fuzzLimits = HeadLimits(headerBytes: 4096, uriBytes: 512, maxFields: 32)

/// What must be so for any bytes whatever; nil, or a sentence that says what was not.
package enum Invariants {}
