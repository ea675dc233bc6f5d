// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdSystem

/// A seat serves one client after another, and keeps its task between two of them.
protocol ReusableSeat: AnyObject {
    /// Woken for the next client, and interrupted when the seat is no longer needed.
    var vacancy: LoopWait { get }
}

/// The seats without a client, each with its task, so that both can be reused.
///
/// Confined to its loop's thread.
final class VacantSeats<Seat: ReusableSeat> {
    /// The most seats that are kept.
    private let limit: Int
    private let free = Exclusive<[Seat]>([])
    private var seats: [Seat] {
        @inline(__always)
        _read { yield free.value }
        @inline(__always)
        _modify { yield &free.value }
    }

    init(atMost limit: Int) { self.limit = limit }

    /// Takes a seat for a new client, to be resumed once the client is in it.
    ///
    /// - Returns: nil if none is vacant.
    func take() -> Seat? { seats.popLast() }

    /// Has a seat's task go on with the client that is in it.
    func resume(_ seat: Seat) { seat.vacancy.wake() }

    /// Waits in a seat whose client has left.
    ///
    /// - Parameter isEnding: true if no more clients come.
    /// - Returns: true if there is another client in it, false if the task is to end.
    @inline(__always)
    func isNeededAgain(_ seat: Seat, unless isEnding: Bool) async -> Bool {
        guard seats.count < limit, !isEnding else { return false }
        let seen = seat.vacancy.news
        seats.append(seat)
        do {
            try await seat.vacancy.wait(after: seen, until: nil)
            return true
        } catch {
            return false
        }
    }

    /// Ends the tasks of all of them.
    func dismiss() {
        let dismissed = seats
        seats = []
        for seat in dismissed { seat.vacancy.interrupt() }
    }
}
