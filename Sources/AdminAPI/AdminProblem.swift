// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
package import JSON

/// What the admin listener says is wrong (RFC 9457).
package struct AdminProblem: Sendable {
    /// Of the answer.
    package let status: Int
    /// nil in an answer that is not bearerd's own.
    package let code: ProblemCode?
    /// What is wrong, and what to do about it.
    package let detail: String
    /// What programs are told beside that.
    private let members: JSONObject

    package init(status: Int, code: ProblemCode, detail: String, members: JSONObject = [:]) {
        self.status = status
        self.code = code
        self.detail = detail
        self.members = members
    }

    /// Reads a refusal, whoever wrote it: what has no words of its own is told by its status.
    package init(status: Int, reading body: [UInt8]) {
        let problem = try? JSONObject(parsing: body)
        self.status = status
        members = [:]
        code = problem?[Problem.Member.code]?.string.map(ProblemCode.init(rawValue:))
        detail = problem?[Problem.Member.detail]?.string ?? "answered with status \(status)"
    }

    /// The answer that says it.
    package var answer: Problem {
        Problem(
            status: status, code: code?.rawValue ?? "", detail: detail,
            further: members.map { Problem.Extension(name: $0.name, json: $0.value.serialized()) })
    }
}
