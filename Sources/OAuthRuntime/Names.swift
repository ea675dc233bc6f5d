// SPDX-License-Identifier: Apache-2.0

// What the public API speaks of, so that `import OAuthRuntime` is enough.
@_exported public import OAuth
