// SPDX-License-Identifier: Apache-2.0

package import BearerdObservability
package import OAuth

extension TokenRefusal {
    /// A log whose lines have the challenge's words and the token's audience.
    package func described(in log: Log) -> Log {
        var log = log
        if let error { log = log.with(.error, .string(error)) }
        if let errorDescription { log = log.with(.errorDescription, .string(errorDescription)) }
        if !scope.isEmpty { log = log.with(.scope, .string(scope)) }
        if !audience.isEmpty { log = log.with(.audience, .string(audience.joined(separator: " "))) }
        return log
    }
}
