// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// A seat serves one client after another, and keeps its task between two of them.
protocol ReusableSeat: AnyObject {
    /// Resumed with true for the next client, or with false when the seat is no longer needed.
    var vacancy: LoopContinuation? { get set }
}

/// The seats without a client, each with its task, so that both can be reused.
///
/// Confined to its loop's thread.
final class VacantSeats<Seat: ReusableSeat> {
    /// The most seats that are kept.
    private let limit: Int
    private var seats: [Seat] = []

    init(atMost limit: Int) { self.limit = limit }

    /// Takes a seat for a new client, to be resumed once the client is in it.
    ///
    /// - Returns: nil if none is vacant.
    func take() -> Seat? { seats.popLast() }

    /// Has a seat's task go on with the client that is in it.
    func resume(_ seat: Seat) { resume(seat, with: true) }

    /// Waits in a seat whose client has left.
    ///
    /// - Parameter isEnding: true if no more clients come.
    /// - Returns: true if there is another client in it, false if the task is to end.
    func isNeededAgain(_ seat: Seat, unless isEnding: Bool) async -> Bool {
        await LoopContinuation.wait { continuation in
            guard seats.count < limit, !isEnding else { return continuation.resume(returning: false) }
            seat.vacancy = continuation
            seats.append(seat)
        }
    }

    /// Ends the tasks of all of them.
    func dismiss() {
        let dismissed = seats
        seats = []
        for seat in dismissed { resume(seat, with: false) }
    }

    private func resume(_ seat: Seat, with isNeeded: Bool) {
        let vacancy = seat.vacancy
        seat.vacancy = nil
        vacancy?.resume(returning: isNeeded)
    }
}
