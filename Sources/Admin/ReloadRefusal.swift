// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdJSON
package import OAuth

/// The reason why the previous configuration stays in force.
package enum ReloadRefusal: Error, Equatable, Sendable {
    /// The file has errors.
    case invalid([ConfigurationFault])
    /// These keys can only change with a restart; the advice tells what to do before or instead.
    case restartNeeded(keys: [String], advice: String = "")
    /// The process is ending.
    case draining
    /// The configuration did not come from a file.
    case noFile

    /// Text for people, in one line.
    package var sentence: String {
        switch self {
        case .invalid(let faults):
            "The configuration has errors, and the old one is in force: "
                + faults.map { "\($0.place): \($0.sentence)" }.joined(separator: "; ")
        case .restartNeeded(let keys, let advice):
            "\(Self.need(of: keys)); the old configuration is in force."
                + (advice.isEmpty ? "" : " \(advice)")
        case .draining: "The process is ending."
        case .noFile: "The configuration is in no file that could be read again."
        }
    }

    /// The record that is reported until a reload succeeds; nil if the configuration was not at fault.
    package func record(at time: WallTime) -> RefusedReload? {
        switch self {
        case .invalid(let faults): RefusedReload(at: time, detail: sentence, faults: faults)
        case .restartNeeded(let keys, let advice):
            RefusedReload(
                at: time, detail: "\(Self.need(of: keys)).\(advice.isEmpty ? "" : " \(advice)")", keys: keys)
        case .draining, .noFile: nil
        }
    }

    private static func need(of keys: [String]) -> String {
        keys.isEmpty
            ? "Only a restart can read the configuration"
            : "Only a restart can change \(keys.joined(separator: ", "))"
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

    /// Additional members for programs.
    var members: JSONObject {
        switch self {
        case .invalid(let faults): ["errors": .array(faults.map(\.json))]
        case .restartNeeded(let keys, _): ["keys": .array(keys.map { .string($0) })]
        case .draining, .noFile: [:]
        }
    }
}
