// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl
internal import Glibc
internal import BearerdSystem

/// What one easy handle's options point at.
final class CurlAttachments {
    /// Why the kernel gave no socket last (`errno`), which libcurl forgets; 0 if it gave one.
    var socketError: CInt = 0

    /// Called once, by the first socket that libcurl opens: the name is resolved.
    ///
    /// It must not call libcurl.
    var onResolved: (() -> Void)?

    /// The port that the last socket was opened for; 0 while there is none.
    var port: UInt16 = 0

    /// The proxy on the way; where it is the environment's, `no_proxy` may exempt the server.
    var proxy: ProxyServer?

    /// Whether TLS with the server itself has begun, past any proxy.
    var hasMetServer = false

    /// What TLS connections are made with, in memory: libcurl would read files on the loop, and stand still with it where
    /// a file system does not answer.
    var transport: Transport?

    /// A connection that somebody else has made.
    enum Connected {
        /// It is ours to close.
        case waiting(Int32)
        /// libcurl has it.
        case taken
    }

    /// What libcurl gets in place of sockets of its own; nil where it opens them.
    var connected: Connected?

    /// The socket that libcurl opened last, and owns.
    var socket: Int32 = -1
    /// Who may listen at the Unix socket that a request is for; nil for anybody.
    var owners: Set<UInt32>?
    /// Who does listen there, and may not.
    var stranger: PeerUser?

    private var heads: [UnsafeMutablePointer<curl_slist>] = []

    deinit {
        heads.forEach { curl_slist_free_all($0) }
        if case .waiting(let descriptor)? = connected { close(descriptor) }
    }

    /// Makes a list that lives as long as this object.
    ///
    /// - Throws: ``CurlError`` when memory is short.
    func list(of lines: [String]) throws(CurlError) -> UnsafeMutablePointer<curl_slist>? {
        var head: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(head, line) else {
                curl_slist_free_all(head)
                throw CurlError(CURLE_OUT_OF_MEMORY)
            }
            head = longer
        }
        if let head { heads.append(head) }
        return head
    }
}
