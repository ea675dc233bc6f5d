// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OAuth

extension Date {
    /// A moment of the civil clock, such as a claim of an ID token.
    public init(_ time: WallTime) {
        self.init(timeIntervalSince1970: time.sinceEpoch / .seconds(1))
    }
}

extension WallTime {
    /// The same moment, to a microsecond; dates further away than 30,000 years are cut, and one that is no number is 1970's begin.
    public init(_ date: Date) {
        let (longest, interval) = (1e12, date.timeIntervalSince1970)
        let seconds = interval.isNaN ? 0 : min(max(interval, -longest), longest)
        self.init(sinceEpoch: .microseconds(Int64((seconds * 1e6).rounded())))
    }
}

extension FreshTokens {
    /// When the access token is of no use any more, by the civil clock of now.
    public var expiryDate: Date {
        Date(timeIntervalSinceNow: (expiry - ContinuousClock.now) / .seconds(1))
    }
}
