// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

extension BodyLength {
    /// How much content there is, of all that HTTP/1.1's framing says.
    package init(_ framing: BodyFraming) {
        switch framing {
        case .none: self = .none
        case .length(let length): self = .exact(length)
        case .chunked, .untilClose: self = .open
        }
    }
}
