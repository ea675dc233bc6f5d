// SPDX-License-Identifier: Apache-2.0

/// Something about each of many streams; when there are too many, the older half is forgotten.
struct RecentStreams<Value> {
    private var values: [Int32: Value] = [:]
    private let capacity: Int
    /// The newest stream of those that were forgotten; 0 if none was.
    private(set) var lastForgotten: Int32 = 0

    /// - Parameter capacity: of no more streams is anything known.
    init(atMost capacity: Int) { self.capacity = capacity }

    subscript(id: Int32) -> Value? {
        get { values[id] }
        set {
            values[id] = newValue
            if values.count > capacity { forgetOlderHalf() }
        }
    }

    private mutating func forgetOlderHalf() {
        for oldest in values.keys.sorted().prefix(capacity / 2) {
            values[oldest] = nil
            lastForgotten = max(lastForgotten, oldest)
        }
    }
}
