// SPDX-License-Identifier: Apache-2.0

import RESP

/// What is done at the server in one step, with nobody in between; each may be done twice without harm.
enum RedisScript {
    /// Gives the lock to who asks, unless somebody else has it.
    case acquire
    /// Makes the holder's lease longer.
    case renew
    /// Says that the holder is about to send a refresh token.
    case spend
    /// Replaces the record of the identity.
    case save
    /// Gives the lock back, and takes back what was said of a refresh token.
    case release
    /// Finds out whether all of that may be done.
    case probe

    /// KEYS 1 lock; ARGV 1 owner, 2 milliseconds; answers `mine`, or who has it.
    private static let acquireText = """
        local holder = redis.call('GET', KEYS[1])
        if holder and holder ~= ARGV[1] then return holder end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return 'mine'
        """

    /// KEYS 1 lock; ARGV 1 owner, 2 milliseconds.
    private static let renewText = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        return 'mine'
        """

    /// KEYS 1 lock, 2 mark; ARGV 1 owner, 2 generation; answers what the mark was before, `GENERATION OWNER`.
    private static let spendText = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
        local before = redis.call('GET', KEYS[2])
        redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[1])
        return before or 'none'
        """

    /// KEYS 1 lock, 2 mark, 3 record; ARGV 1 owner, 2 kind of what is replaced (`none`, `string`, `any`), 3 its bytes,
    /// 4 the new record, 5 channel, 6 message.
    private static let saveText = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
        local kind = redis.call('TYPE', KEYS[3])['ok']
        local present = kind == 'string' and redis.call('GET', KEYS[3])
        if present == '' then kind, present = 'none', false end
        if present ~= ARGV[4] then
          if ARGV[2] ~= 'any' and (kind ~= ARGV[2] or (present and present ~= ARGV[3])) then return 'changed' end
          redis.call('SET', KEYS[3], ARGV[4])
          redis.call('PUBLISH', ARGV[5], ARGV[6])
        end
        redis.call('DEL', KEYS[2])
        return 'saved'
        """

    /// KEYS 1 lock, 2 mark; ARGV 1 owner.
    private static let releaseText = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
        local mark = redis.call('GET', KEYS[2])
        if mark and string.sub(mark, -#ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
        redis.call('DEL', KEYS[1])
        return 'mine'
        """

    /// KEYS any; ARGV 1 channel.
    private static let probeText = """
        for _, key in ipairs(KEYS) do redis.call('GET', key) end
        redis.call('PUBLISH', ARGV[1], '')
        return 'mine'
        """

    /// What the scripts answer, beside the name of a holder and what a mark was.
    enum Answer: String {
        /// The lock is the asker's.
        case mine
        /// The lock is somebody else's, or nobody's.
        case lost
        /// The record was replaced.
        case saved
        /// The record is not what was to be replaced.
        case changed
    }

    private var text: String {
        switch self {
        case .acquire: Self.acquireText
        case .renew: Self.renewText
        case .spend: Self.spendText
        case .save: Self.saveText
        case .release: Self.releaseText
        case .probe: Self.probeText
        }
    }

    /// The command that runs it.
    func command(keys: [String], _ arguments: [[UInt8]]) -> RESPCommand {
        RESPCommand(
            [Array("EVAL".utf8), Array(text.utf8), Array("\(keys.count)".utf8)]
                + keys.map { Array($0.utf8) } + arguments)
    }
}
