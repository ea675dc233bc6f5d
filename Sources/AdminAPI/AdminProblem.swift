// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import BearerdJSON

/// A problem that the admin listener reports (RFC 9457).
package struct AdminProblem: Sendable {
    package let status: Int
    /// The code; nil in an answer that is not bearerd's own.
    package let code: ProblemCode?
    /// A sentence with the problem and its remedy.
    package let detail: String
    /// Additional members for programs.
    private let members: JSONObject

    package init(status: Int, code: ProblemCode, detail: String, members: JSONObject = [:]) {
        self.status = status
        self.code = code
        self.detail = detail
        self.members = members
    }

    /// Reads a refusal of any origin; without a detail of its own it is told by its status.
    package init(status: Int, reading body: [UInt8]) {
        let problem = try? JSONObject(parsing: body)
        self.status = status
        members = [:]
        code = problem?[Problem.Member.code]?.string.map(ProblemCode.init(rawValue:))
        detail = problem?[Problem.Member.detail]?.string ?? "answered with status \(status)"
    }

    package var answer: Problem {
        Problem(
            status: status, code: code?.rawValue ?? "", detail: detail,
            further: members.map { Problem.Extension(name: $0.name, json: $0.value.serialized()) })
    }
}
