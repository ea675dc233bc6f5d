// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension HTTPFields {
    /// The fields that concern one connection only, whether or not `Connection` names them (RFC 9110 §7.6.1).
    ///
    /// `Trailer` is not among them: it announces trailers, which are passed on.
    private static var hopByHop: UInt64 {
        KnownFieldName.connection.bit | KnownFieldName.keepAlive.bit | KnownFieldName.proxyConnection.bit
            | KnownFieldName.te.bit | KnownFieldName.transferEncoding.bit | KnownFieldName.upgrade.bit
            | KnownFieldName.http2Settings.bit | KnownFieldName.proxyAuthorization.bit
            | KnownFieldName.proxyAuthenticate.bit | KnownFieldName.proxyAuthenticationInfo.bit
    }

    /// The fields that `Connection` cannot remove: the message would mean something else without them.
    private static var endToEnd: UInt64 {
        KnownFieldName.host.bit | KnownFieldName.contentLength.bit | KnownFieldName.contentType.bit
            | KnownFieldName.contentEncoding.bit | KnownFieldName.contentRange.bit
            | KnownFieldName.cacheControl.bit | KnownFieldName.xRequestID.bit
    }

    /// Removes the fields that concern this connection, and those that `Connection` names (RFC 9110 §7.6.1).
    ///
    /// A message without such fields costs one comparison. Memory is needed only if `Connection` names fields that
    /// are no ``KnownFieldName``.
    package mutating func removeHopByHop() {
        guard present & Self.hopByHop != 0 else { return }
        var unwanted = Self.hopByHop
        if has(.connection), usualConnection == nil {
            unwanted |= removeConnectionOptions() & ~Self.endToEnd
        }
        remove(namesIn: unwanted)
    }

    /// Removes the entries with these known names; the others keep their order.
    private mutating func remove(namesIn unwanted: UInt64) {
        entries.remove(namesIn: unwanted)
        present &= ~unwanted
    }

    /// Removes the fields with unknown names that `Connection` lists.
    ///
    /// - Returns: the bits of the known names in the list.
    private mutating func removeConnectionOptions() -> UInt64 {
        var known: UInt64 = 0
        var unknown: [Range<Int>] = []
        forEachListMember(of: .connection) { bytes, member in
            let option = KnownFieldName.find(in: bytes, member)
            if option != .other {
                known |= option.bit
            } else if !bytes.equalsIgnoringCase(member, "close") {
                unknown.append(member)
            }
        }
        if !unknown.isEmpty {
            removeEntries { fields, entry in
                entry.known == .other && unknown.contains { fields.isSameName(entry.nameRange, $0) }
            }
        }
        return known
    }

    private func isSameName(_ name: Range<Int>, _ option: Range<Int>) -> Bool {
        guard name.count == option.count else { return false }
        for offset in 0..<name.count
        where block.bytes[name.lowerBound &+ offset].asciiLowercased
            != block.bytes[option.lowerBound &+ offset].asciiLowercased
        {
            return false
        }
        return true
    }
}
