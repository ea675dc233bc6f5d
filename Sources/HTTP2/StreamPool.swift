// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdNghttp2

/// Streams that are over and of no interest to anybody, for later ones of the same thread.
package final class StreamPool {
    private let streams = Exclusive<[HTTP2Stream]>([])
    private let limit: Int
    /// Memory that the sessions of the pool have given back, for each other; they keep the pool.
    let memory = bearerd_blocks_new()  // freed in deinit
    let heads = HeadMemory()
    /// A stream that is closed, in the place of one that nobody holds any more.
    package let nobody = HTTP2Stream(id: 0)

    /// - Parameter limit: more are not kept.
    package init(atMost limit: Int) {
        self.limit = limit
        nobody.isClosed = true
        nobody.resetCode = .cancel
    }

    deinit { bearerd_blocks_free(memory) }

    package var count: Int { streams.value.count }

    /// How much of the sessions' memory waits to be used again, in bytes.
    var keptMemory: Int { Int(bearerd_blocks_kept(memory)) }

    /// Gives up what is kept for later streams.
    package func empty() {
        streams.value = []
        bearerd_blocks_empty(memory)
        heads.empty()
    }

    /// A stream as good as new.
    func take(id: Int32) -> HTTP2Stream {
        guard let stream = streams.value.popLast() else { return HTTP2Stream(id: id) }
        stream.renew(id: id)
        return stream
    }

    /// A stream for a request of our own.
    package func take() -> HTTP2Stream { take(id: 0) }

    /// Keeps a stream if it is closed and nobody else knows it; whoever gives it must not use it any more.
    package func give(_ stream: inout HTTP2Stream) {
        guard streams.value.count < limit, stream.isClosed, !stream.isTouched, stream !== nobody,
            isKnownUniquelyReferenced(&stream)
        else { return }
        stream.forget()
        streams.value.append(stream)
    }

    /// Takes all of `taken`, and keeps those that are closed and that nobody else knows.
    func give(_ taken: inout [HTTP2Stream]) {
        while let last = taken.indices.last {
            give(&taken[last])
            taken.removeLast()
        }
    }
}
