// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// Throws events at states in any order and looks whether the promises hold.
struct `Whatever happens` {
    @Test(arguments: [GrantType.clientCredentials, .refreshToken], 1...20)
    func `the promises hold`(grantType: GrantType, seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let harness = EngineHarness(grantType: grantType, refreshToken: "rt")
        var isInFlight = false
        var spent: Set<Int> = []
        for step in 0..<2000 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2: harness.pass(.milliseconds(Int.random(in: 1...40_000, using: &random)))
            case 3, 4:
                if harness.begins() {
                    #expect(!isInFlight, "one request at a time")
                    isInFlight = true
                }
            case 5 where isInFlight:
                harness.land("at\(step)", lifetime: .seconds(Int.random(in: 1...300, using: &random)))
                isInFlight = false
            case 6 where isInFlight:
                harness.crash(TokenFailure.Kind.allCases.randomElement(using: &random) ?? .transient)
                isInFlight = false
            case 7:
                _ = harness.reject(
                    harness.generation - Int.random(in: 0...1, using: &random), route: "/\(step % 3)",
                    isUnauthorized: .random(using: &random), canReplay: .random(using: &random))
            case 8: harness.state.tokenAccepted(generation: harness.generation, route: "/\(step % 3)")
            case 9:
                spent.insert(harness.generation)
                harness.state.tokenInvalidated(at: harness.now)
            case 10: try? harness.state.refreshRequested(at: harness.now)
            case 11 where !isInFlight && step % 5 == 0:
                harness.find(
                    generation: harness.state.session.generation + 1, accessToken: "theirs\(step)",
                    lifetime: .seconds(Int.random(in: -50...300, using: &random)), refreshToken: "rt")
            default: harness.need()
            }
            if let published = harness.state.published(at: harness.now) {
                #expect(published.expiry > harness.now, "an expired token is never sent")
                #expect(!spent.contains(published.generation), "an invalidated token is never sent")
            }
            if grantType.needsPerson {
                #expect(harness.state.session.refreshToken != nil, "the refresh token is never lost")
            }
            let next = harness.state.nextMoment(after: harness.now)
            #expect(next.map { $0 > harness.now } ?? true, "no alarm rings twice at one moment")
        }
        if isInFlight { harness.land() }
        harness.find(generation: harness.state.session.generation + 1, refreshToken: "fresh")
        #expect(harness.begins(), "nothing stops later refreshes for good")
        harness.land("last")
        #expect(harness.answer == "last" && harness.word == .authorized)
    }
}
