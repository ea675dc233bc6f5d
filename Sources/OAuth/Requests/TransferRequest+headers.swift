// SPDX-License-Identifier: Apache-2.0

public import HTTPMessages

extension TransferRequest {
    /// The header fields in the order to send them.
    public var headers: [NamedValue] {
        var headers: [NamedValue] = []
        fields.forEach { name, value in headers.append(NamedValue("\(name)", value)) }
        return headers
    }
}
