// SPDX-License-Identifier: Apache-2.0

/// The type of pool that workers use, named only here.
///
/// A worker has one type of pool, so that the compiler specialises its code for that type. A pool that
/// chooses the protocol for each connection would take its place here.
package typealias WorkerUpstreamPool = UpstreamPool
