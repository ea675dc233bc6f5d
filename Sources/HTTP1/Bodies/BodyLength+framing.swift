// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

extension BodyLength {
    /// The length of the content, as far as HTTP/1.1's framing tells it.
    package init(_ framing: BodyFraming) {
        switch framing {
        case .none: self = .none
        case .length(let length): self = .exact(length)
        case .chunked, .untilClose: self = .open
        }
    }
}
