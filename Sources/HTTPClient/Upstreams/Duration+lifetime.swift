// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

extension Duration {
    /// True if so much time has passed; zero never passes.
    func isOver(since start: CoarseInstant, at now: CoarseInstant) -> Bool {
        self > .zero && now.duration(since: start) >= self
    }
}
