// SPDX-License-Identifier: Apache-2.0

// Types of the public API that other targets declare, so that `import OAuth` is enough.
@_exported public import struct Cryptography.JWSAlgorithm
@_exported public import struct Cryptography.Secret
@_exported public import struct HTTPMessages.HTTPURL
@_exported public import struct HTTPMessages.TransferRequest

/// The response to an ``AuthorizationRequest``: a code, or the server's refusal.
public typealias AuthorizationResponse = AuthorizationRequest.Response
