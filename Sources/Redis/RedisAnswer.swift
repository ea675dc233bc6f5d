// SPDX-License-Identifier: Apache-2.0

import RESP

/// What a script answers: a word of its own, and what the server or others have to say after it.
struct RedisAnswer {
    /// Nil for what no script of ours says.
    let word: RedisScript.Word?
    let rest: Substring

    init(_ reply: RESPValue) {
        let text = reply.text ?? ""
        let first = text.prefix { $0 != " " }
        word = RedisScript.Word(rawValue: String(first))
        rest = text.dropFirst(first.count + 1)
    }
}
