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
    /// A head has room for tens of thousands of options beside a thousand fields: each is looked up once.
    ///
    /// - Returns: the bits of the known names in the list.
    private mutating func removeConnectionOptions() -> UInt64 {
        var known: UInt64 = 0
        var others: Set<[UInt8]>?
        var listed: Set<[UInt8]> = []
        var option: [UInt8] = []
        forEachListMember(of: .connection) { bytes, member in
            let name = KnownFieldName.find(in: bytes, member)
            guard name == .other else { return known |= name.bit }
            guard !bytes.equalsIgnoringCase(member, "close") else { return }
            option.removeAll(keepingCapacity: true)
            for offset in member { option.append(bytes[offset].asciiLowercased) }
            if others == nil { others = otherNames }
            if let name = others?.remove(option) { listed.insert(name) }
        }
        if !listed.isEmpty {
            removeEntries { fields, entry in
                entry.known == .other && listed.contains(fields.lowercased(entry.nameRange))
            }
        }
        return known
    }

    /// The names that are no ``KnownFieldName``.
    private var otherNames: Set<[UInt8]> {
        Set(entries.lazy.filter { $0.known == .other }.map { lowercased($0.nameRange) })
    }

    private func lowercased(_ name: Range<Int>) -> [UInt8] { name.map { block.bytes[$0].asciiLowercased } }
}
