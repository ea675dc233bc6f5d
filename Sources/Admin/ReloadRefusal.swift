// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdJSON
package import OAuth

/// Why the configuration that there was goes on.
package enum ReloadRefusal: Error, Equatable, Sendable {
    /// The file cannot be used.
    case invalid([ConfigurationFault])
    /// Only a restart brings what these keys say; the advice says what to do before one, or in its place.
    case restartNeeded(keys: [String], advice: String = "")
    /// The process ends.
    case draining
    /// The configuration is in no file.
    case noFile

    /// What a person reads of it, in one line.
    package var sentence: String {
        switch self {
        case .invalid(let faults):
            "The configuration has errors, and the one before goes on: "
                + faults.map { "\($0.place): \($0.sentence)" }.joined(separator: "; ")
        case .restartNeeded(let keys, let advice):
            "Only a restart can change \(keys.joined(separator: ", ")); the configuration before goes on."
                + (advice.isEmpty ? "" : " \(advice)")
        case .draining: "The process is ending."
        case .noFile: "The configuration is in no file that could be read again."
        }
    }

    /// What is told of it until a reload succeeds; nil where the refusal was not about the configuration.
    package func record(at time: WallTime) -> RefusedReload? {
        switch self {
        case .invalid(let faults): RefusedReload(at: time, detail: sentence, faults: faults)
        case .restartNeeded(let keys, _): RefusedReload(at: time, detail: sentence, keys: keys)
        case .draining, .noFile: nil
        }
    }

    var status: Int {
        switch self {
        case .invalid, .restartNeeded: 422
        case .draining: 503
        case .noFile: 409
        }
    }

    var code: ProblemCode {
        switch self {
        case .invalid: .configInvalid
        case .restartNeeded: .restartNeeded
        case .draining: .draining
        case .noFile: .noFile
        }
    }

    /// What programs need to know of it.
    var members: JSONObject {
        switch self {
        case .invalid(let faults): ["errors": .array(faults.map(\.json))]
        case .restartNeeded(let keys, _): ["keys": .array(keys.map { .string($0) })]
        case .draining, .noFile: [:]
        }
    }
}
