// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BearerdProxy

@Suite
struct `The verdict on a token` {
    @Test(
        arguments: [
            (401, [401], false, TokenVerdict.refused(isWorthReplay: true)),
            (401, [], false, .refused(isWorthReplay: false)),
            (401, [401], true, .refused(isWorthReplay: true)),
            (403, [401, 403], false, .doubtful),
            (403, [401, 403], true, .accepted),
            (403, [401], false, .accepted),
            (403, [401], true, .accepted),
            (419, [401, 419], false, .doubtful),
            (500, [401], false, .accepted),
            (200, [401], false, .accepted),
        ] as [(Int, Set<Int>, Bool, TokenVerdict)])
    func `follows from the status and what the route retries`(
        status: Int, retried: Set<Int>, lacksScope: Bool, expected: TokenVerdict
    ) {
        #expect(TokenVerdict(status: status, retried: retried, lacksScope: lacksScope) == expected)
    }

    @Test func `is a refusal only where the answer itself says so`() {
        #expect(TokenVerdict.refused(isWorthReplay: false).isRefusal)
        #expect(!TokenVerdict.doubtful.isRefusal && !TokenVerdict.accepted.isRefusal)
        #expect(TokenVerdict.doubtful.isWorthReplay && !TokenVerdict.accepted.isWorthReplay)
    }
}
