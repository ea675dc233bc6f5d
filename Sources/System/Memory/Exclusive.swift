// SPDX-License-Identifier: Apache-2.0

/// A value that an object lends: to many who read it, or to one who changes it.
///
/// Overlapping loans end the process, as the language's own check of a variable would. That looks the variable up in a
/// table of the thread, for 65 instructions each time that somebody looks at it; here a word beside the value is looked
/// at, for five. It serves for what each request asks for several times, and what is lent to code that the compiler
/// cannot see through. Confined to one thread.
package struct Exclusive<Value>: ~Copyable {
    /// Allocated in `init`, freed in `deinit`, and never seen outside; the word that counts the loans is in front of it.
    @usableFromInline let lent: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming Value) {
        let block = UnsafeMutableRawPointer.allocate(byteCount: 16 + MemoryLayout<Value>.size, alignment: 16)
        block.storeBytes(of: 0, as: Int.self)
        lent = (block + 16).bindMemory(to: Value.self, capacity: 1)
        lent.initialize(to: value)
    }

    deinit {
        lent.deinitialize(count: 1)
        UnsafeMutableRawPointer(loans).deallocate()
    }

    /// How many read it; -1 while one changes it.
    @inlinable
    var loans: UnsafeMutablePointer<Int> {
        @inline(__always)
        get { (UnsafeMutableRawPointer(lent) - 16).assumingMemoryBound(to: Int.self) }
    }

    @inlinable
    package var value: Value {
        @inline(__always)
        _read {
            precondition(loans.pointee >= 0, "a value is read while it is changed")
            loans.pointee &+= 1
            defer { loans.pointee &-= 1 }
            yield lent.pointee
        }
        @inline(__always)
        nonmutating _modify {
            precondition(loans.pointee == 0, "a value is changed while it is lent")
            loans.pointee = -1
            defer { loans.pointee = 0 }
            yield &lent.pointee
        }
    }
}

extension Exclusive where Value: AnyObject {
    /// Lends the object, which stays here meanwhile: no reference to it is counted, as one that is read from ``value`` and
    /// kept for several steps costs (38 instructions).
    @inlinable
    @inline(__always)
    package func lend<Result, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(loans.pointee >= 0, "an object is lent while it is replaced")
        loans.pointee &+= 1
        defer { loans.pointee &-= 1 }
        // The library's function does not tell what it throws.
        let outcome: Swift.Result<Result, Failure> = Unmanaged.passUnretained(lent.pointee)
            ._withUnsafeGuaranteedRef {
                do throws(Failure) { return .success(try body($0)) } catch { return .failure(error) }
            }
        return try outcome.get()
    }
}
