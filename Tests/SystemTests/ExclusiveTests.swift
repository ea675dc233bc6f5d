// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Testing

@Suite struct `A value that an object lends` {
    /// What lends it.
    private final class Lender {
        let lent = Exclusive<[Int]>([])

        func change(_ value: inout [Int], during work: () -> Void) { work() }

        func read(_ value: borrowing [Int], during work: () -> Void) { work() }
    }

    private final class Counter {
        var count = 0
    }

    /// Tells how many of it there are.
    private final class Counted {
        let counter: Counter

        init(_ counter: Counter) {
            self.counter = counter
            counter.count += 1
        }

        deinit { counter.count -= 1 }
    }

    private final class Owner {
        let lent: Exclusive<Counted?>

        init(_ counter: Counter) { lent = Exclusive(Counted(counter)) }
    }

    @Test func `is changed in place, and read as it was written`() {
        let lender = Lender()
        for number in 0..<1000 { lender.lent.value.append(number) }
        lender.lent.value[7] = -1
        #expect(lender.lent.value.count == 1000)
        #expect(lender.lent.value[7] == -1 && lender.lent.value[8] == 8)
    }

    @Test func `may be read by many at once`() {
        let lender = Lender()
        var inner = 0
        lender.read(lender.lent.value) {
            lender.read(lender.lent.value) { inner = lender.lent.value.count }
        }
        lender.lent.value.append(1)
        #expect(inner == 0 && lender.lent.value == [1])
    }

    @Test func `is freed with its owner, and with a change what was there before`() {
        let counter = Counter()
        do {
            let owner = Owner(counter)
            #expect(counter.count == 1)
            owner.lent.value = Counted(counter)
            #expect(counter.count == 1)
            withExtendedLifetime(owner) {}
        }
        #expect(counter.count == 0)
    }

    @Test func `is given back when whoever has it throws`() {
        struct Failure: Error {}
        func change(_ value: inout [Int]) throws(Failure) {
            value = [2]
            throw Failure()
        }
        let lender = Lender()
        #expect(throws: Failure.self) { try change(&lender.lent.value) }
        lender.lent.value.append(3)
        #expect(lender.lent.value == [2, 3])
    }

    @Test func `lends an object for several steps, whether they throw or not`() {
        struct Failure: Error {}
        let counter = Counter()
        let lent = Exclusive(Counted(counter))
        lent.lend { object in lent.lend { #expect($0 === object) } }
        #expect(throws: Failure.self) { try lent.lend { (_) throws(Failure) in throw Failure() } }
        lent.value = Counted(counter)
        #expect(counter.count == 1)
    }

    @Test func `ends the process when an object is replaced while it is lent`() async {
        await #expect(processExitsWith: .failure) {
            let lent = Exclusive(Counter())
            lent.lend { _ in lent.value = Counter() }
        }
    }

    @Test func `ends the process when it is changed while somebody changes it`() async {
        await #expect(processExitsWith: .failure) {
            let lender = Lender()
            lender.change(&lender.lent.value) { lender.lent.value = [1] }
        }
    }

    @Test func `ends the process when it is read while somebody changes it`() async {
        await #expect(processExitsWith: .failure) {
            let lender = Lender()
            lender.change(&lender.lent.value) { print(lender.lent.value.count) }
        }
    }
}
