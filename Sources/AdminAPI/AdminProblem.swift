// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
internal import JSON

/// What the admin listener says is wrong (RFC 9457).
package struct AdminProblem: Sendable {
    /// Of the answer.
    package let status: Int
    /// nil in an answer that is not bearerd's own.
    package let code: ProblemCode?
    /// What is wrong, and what to do about it.
    package let detail: String

    package init(status: Int, code: ProblemCode, detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    /// Reads a refusal, whoever wrote it: what has no words of its own is told by its status.
    package init(status: Int, reading body: [UInt8]) {
        let problem = try? JSONObject(parsing: body)
        self.status = status
        code = problem?[Problem.Member.code]?.string.map(ProblemCode.init(rawValue:))
        detail = problem?[Problem.Member.detail]?.string ?? "answered with status \(status)"
    }

    /// The answer that says it.
    package var answer: Problem { Problem(status: status, code: code?.rawValue ?? "", detail: detail) }
}
