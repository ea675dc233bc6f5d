// SPDX-License-Identifier: Apache-2.0

// The types of the public API, so that `import OAuthFoundation` is enough.
@_exported public import OAuth
