// SPDX-License-Identifier: Apache-2.0

import BearerdRESP

/// The reply of a script: a word of its own, followed by what the server or another daemon says.
struct ScriptReply {
    /// Nil for a word that no script of ours says.
    let word: RedisScript.Word?
    let rest: Substring

    init(_ reply: RESPValue) {
        let text = reply.text ?? ""
        let first = text.prefix { $0 != " " }
        word = RedisScript.Word(rawValue: String(first))
        rest = text.dropFirst(first.count + 1)
    }

    /// The mark of another daemon that must be waited for, if there is one.
    var mark: String? {
        let mark =
            switch word {
            case .marked: rest
            case .held: rest.prefix { $0 != "\n" }
            case .mine, .lost, .saved, .untold, .changed, .able, .unable, nil: Substring()
            }
        return mark.isEmpty ? nil : String(mark)
    }

    /// True if the lock is held, or the mark was left, in the name of `owner`.
    func names(_ owner: String?) -> Bool {
        owner.map { rest.hasSuffix((word == .held ? "\n" : " ") + $0) } ?? false
    }

    /// The daemon that holds the lock or left the mark, as in `process 17 on web-1`, without its random word.
    var holder: String? {
        let owner = rest.drop { $0 != (word == .held ? "\n" : " ") }.dropFirst()
        let name = owner.drop { $0 != " " }.utf8.dropFirst().filter { 0x20...0x7E ~= $0 }.prefix(128)
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}
