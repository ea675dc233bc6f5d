// SPDX-License-Identifier: Apache-2.0

package import System

extension OutputWriter: LineSink {
    package func write(_ lines: [UInt8]) {
        let _: Bool = write(lines)
    }
}
