// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

extension OutputWriter: LineSink {
    package func write(_ lines: [UInt8]) {
        let _: Bool = write(lines)
    }
}
