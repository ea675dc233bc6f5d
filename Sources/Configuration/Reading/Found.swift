// SPDX-License-Identifier: Apache-2.0

/// A value and the place where it was found.
struct Found<Value> {
    let value: Value
    let place: Place

    func map<Other>(_ transform: (Value) -> Other) -> Found<Other> {
        Found<Other>(value: transform(value), place: place)
    }
}
