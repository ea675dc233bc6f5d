// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

extension ClientExchange {
    /// Waits for the next piece of the request's content, or of its response's.
    ///
    /// A call of gRPC has both at once: either may be silent for as long as the other is not.
    ///
    /// - Parameter sparingly: as in ``BodySource/nextPiece(within:sparingly:)``.
    /// - Returns: the length in bytes; nil at the end.
    @inline(__always)
    func nextPiece(
        of source: some BodySource, within timeout: Duration, sparingly: Bool
    ) async throws(MessageError) -> Int? {
        guard request.fields.areOfGRPC else {
            return try await source.nextPiece(within: timeout, sparingly: sparingly)
        }
        var seen = progress
        var movedAt = CoarseInstant.now
        while true {
            do throws(MessageError) {
                // When the other direction moved is known to an eighth of the limit.
                return try await source.nextPiece(within: timeout / 8, sparingly: sparingly)
            } catch {
                guard error == .stream(.timedOut) else { throw error }
                let now = CoarseInstant.now
                if progress != seen { (seen, movedAt) = (progress, now) }
                guard now < movedAt + timeout else { throw error }
            }
        }
    }
}
