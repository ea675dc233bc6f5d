// SPDX-License-Identifier: Apache-2.0

// Types of the public API that other targets declare, so that `import OAuth` is enough.
@_exported public import struct BearerdCryptography.JWSAlgorithm
@_exported public import struct BearerdCryptography.Secret
@_exported public import struct BearerdHTTPMessages.HTTPURL
@_exported public import struct BearerdHTTPMessages.TransferRequest

/// The response to an ``AuthorizationRequest``: a code, or the server's refusal.
public typealias AuthorizationResponse = AuthorizationRequest.Response
