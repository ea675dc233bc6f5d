// SPDX-License-Identifier: Apache-2.0

/// Decides what the log says of the ends of our own certificates: each is told two weeks before, and once it has come.
package struct CertificateNotices {
    /// An end that is news.
    package enum Notice: Equatable, Sendable {
        case endsSoon(CertificateEnd)
        case hasEnded(CertificateEnd)
    }

    /// How long before its end a certificate is told of, in seconds.
    package static let soon: Int64 = 14 * 86400

    private var soon: Set<CertificateEnd> = []
    private var ended: Set<CertificateEnd> = []

    package init() {}

    /// Decides what is news; what is no longer used is forgotten.
    ///
    /// - Parameter now: seconds since 1970.
    package mutating func news(of ends: [CertificateEnd], at now: Int64) -> [Notice] {
        let nowEnded = Set(ends.filter { $0.unixSeconds <= now })
        let nowSoon = Set(ends.filter { $0.unixSeconds < now + Self.soon }).subtracting(nowEnded)
        let news =
            nowSoon.subtracting(soon).map(Notice.endsSoon) + nowEnded.subtracting(ended).map(Notice.hasEnded)
        (soon, ended) = (nowSoon, nowEnded)
        return news
    }
}
