// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem

extension AppendedFile {
    /// Starts a thread that writes the audit once it has a file, and logs failures to write.
    convenience init(tellingOfAudit log: Log) throws(SystemError) {
        try self.init(named: "audit") { news in
            switch news {
            case .fails(let error):
                log.error(
                    "the audit cannot be written; lines wait, and are lost when too many do",
                    [.file: .string(error.path), .reason: .string(SystemError.text(of: error.code))])
            case .worksAgain(let dropped):
                log.notice("the audit is written again", [.dropped: .integer(dropped)])
            }
        }
    }
}
