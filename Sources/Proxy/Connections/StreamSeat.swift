// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTP2Streams

/// A place for one stream of a client after another, with all that serving it needs.
final class StreamSeat<Kinds: UpstreamKinds>: ReusableSeat {
    let stream: ServerStream
    let exchange: Exchange<ServerStream, Kinds>
    /// The connection of the stream that is being served.
    var client: HTTP2Client<Kinds>? {
        get { holder }
        set { holder = newValue }
    }
    /// Its index in the connection's list.
    var position: Int {
        get { index }
        set { index = newValue }
    }
    // Private, because the compiler proves of these what it has to check at run time for what others see.
    private var holder: HTTP2Client<Kinds>?
    private var index = 0
    let vacancy: LoopWait

    init(_ exchange: Exchange<ServerStream, Kinds>, on loop: EventLoop) {
        stream = exchange.client
        self.exchange = exchange
        vacancy = LoopWait(loop: loop)
        // `stream` ends with this seat. A second is how long the client's answer to a PING is waited for.
        stream.onShutdown = { [unowned self] in holder?.beginShutdown(within: .seconds(1)) }
    }
}
