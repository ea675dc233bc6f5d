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

/// The result of feeding a parser.
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

/// Properties that hold for every input; each function returns nil, or a sentence about the violation.
package enum Invariants {}
