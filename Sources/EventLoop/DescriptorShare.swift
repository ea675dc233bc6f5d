// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc

/// Which descriptors the connections of clients may take, so that what serves them finds some too.
///
/// The kernel gives the lowest number that is free: so a number tells how many are in use.
package struct DescriptorShare: Sendable {
    /// What comes only with the first requests: libcurl's own, connections to providers.
    private static let latecomers: CInt = 8
    /// More than this need not stay free.
    private static let largestReserve: CInt = 1_024

    private let bound: CInt

    /// As many as there are.
    package static let all = DescriptorShare(bound: .max)

    /// Half of those that are free now; the others stay for connections to upstreams and providers.
    package static func halfOfTheFree() -> DescriptorShare {
        let limit = CInt(clamping: bearerd_descriptor_limit())
        guard limit > 0, let next = nextDescriptor() else { return .all }
        let free = max(0, limit - next)
        return DescriptorShare(bound: limit - min((free + latecomers) / 2, largestReserve))
    }

    /// The number of the next descriptor, or nil if there is none.
    static func nextDescriptor() -> CInt? {
        let probe = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard probe >= 0 else { return nil }
        close(probe)
        return probe
    }

    func contains(_ descriptor: CInt) -> Bool { descriptor < bound }
}
