// SPDX-License-Identifier: Apache-2.0

// What the public API speaks of, so that `import OAuth` is enough.
@_exported public import struct Cryptography.JWSAlgorithm
@_exported public import struct Cryptography.Secret
@_exported public import struct HTTPMessages.HTTPURL
@_exported public import struct HTTPMessages.TransferRequest

/// What came back to an ``AuthorizationRequest``: a code, or the server's refusal.
public typealias AuthorizationResponse = AuthorizationRequest.Response

/// What came back to a ``TokenRequest``.
public typealias TokenResponse = TokenGrant
