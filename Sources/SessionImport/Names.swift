// SPDX-License-Identifier: Apache-2.0

// The types of the public API, so that `import SessionImport` is enough.
@_exported public import struct BearerdCryptography.Secret
@_exported public import protocol OAuth.ExplainedError
@_exported public import enum OAuth.ImportError
