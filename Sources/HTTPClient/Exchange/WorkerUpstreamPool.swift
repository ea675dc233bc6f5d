// SPDX-License-Identifier: Apache-2.0

/// The pool of upstream connections that workers are built for; nothing else says which it is.
///
/// A worker has one type of pool, so that the compiler makes its code for that type. Which protocol an upstream is spoken
/// to in is the pool's own affair: one that chooses, connection by connection, takes this one's place here.
package typealias WorkerUpstreamPool = UpstreamPool
