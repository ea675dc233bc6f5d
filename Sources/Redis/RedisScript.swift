// SPDX-License-Identifier: Apache-2.0

import RESP

/// What is done at the server in one step, with nobody in between; each may be done twice without harm.
///
/// What somebody else has put under our names stops nothing: a lock or a mark that is no string is none. What is asked
/// first is the type: of a failed `GET` nobody would know whether it was that, or a missing right, and a lock that may
/// not be read is not free.
enum RedisScript {
    /// Gives the lock to who asks, unless somebody else has it, or has yet to say what came of a refresh token.
    case acquire
    /// Makes the holder's lease longer, or takes a lock anew that ended while the holder could not renew it.
    case renew
    /// Says that the holder is about to send a refresh token.
    case spend
    /// Replaces the record of the identity.
    case save
    /// Gives the lock back, and takes back what was said of a refresh token.
    case release
    /// Finds out whether all of that may be done.
    case probe

    /// `text(KEY)`: what locks and marks say, which is never longer; empty for what is missing or no string.
    private static let textFunction = """
        local function text(key)
          if redis.call('TYPE', key)['ok'] ~= 'string' then return '' end
          return redis.call('GETRANGE', key, 0, 255)
        end

        """

    /// What records and marks say.
    ///
    /// `stored(KEY)` is the generation of a record, 0 for what is none; `foreign(MARK, OWNER, LEAST)` is whether a mark is
    /// another owner's, and of this generation at least. Nobody is waited for who left it for good.
    private static let markFunctions = """
        local function stored(key) return tonumber(string.match(text(key), '^(%d+)%c')) or 0 end
        local function foreign(mark, owner, least)
          local generation, by = string.match(mark, '^(%d+) ([ -~]+)$')
          return generation and by ~= owner and by ~= 'nobody' and tonumber(generation) >= least
        end

        """

    /// KEYS 1 lock, 2 mark, 3 record; ARGV 1 owner, 2 milliseconds, 3 a mark whose owner is gone, 4 the newest generation
    /// that the asker knows; answers `mine`, `held` with the mark and, on a line of its own, by whom, or `marked` with
    /// the mark.
    ///
    /// A mark of a generation that is over means nothing. A lock that never ends is none of ours, or somebody has made it
    /// so: it ends when a holder would have renewed it. Where nothing can be written the owner of a mark cannot give a
    /// sign either, so whoever is told of one has been allowed to write: `NX` changes nothing.
    private static let acquireText = """
        local holder, mark = text(KEYS[1]), text(KEYS[2])
        if foreign(mark, ARGV[1], math.max(stored(KEYS[3]), tonumber(ARGV[4]))) then
          redis.call('SET', KEYS[2], '', 'NX')
        else
          mark = ''
        end
        if holder ~= '' and holder ~= ARGV[1] then
          if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
          return 'held ' .. mark .. '\\n' .. holder
        end
        if mark ~= '' and mark ~= ARGV[3] then return 'marked ' .. mark end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return 'mine'
        """

    /// KEYS 1 lock, 2 mark, 3 record; ARGV 1 owner, 2 milliseconds, 3 the generation whose refresh token the owner has
    /// sent, or nothing, 4 the record that it replaces, or nothing; answers `mine`, `held` as above, or `lost`.
    ///
    /// Who has sent a refresh token takes the lock anew, and puts mark and record back if all was deleted, unless somebody
    /// else has sent that one since or stored what is newer.
    private static let renewText = """
        local holder = text(KEYS[1])
        if holder == ARGV[1] then
          redis.call('PEXPIRE', KEYS[1], ARGV[2])
          return 'mine'
        end
        local spent = tonumber(ARGV[3])
        if not spent or stored(KEYS[3]) > spent or foreign(text(KEYS[2]), ARGV[1], spent) then return 'lost' end
        if holder ~= '' then return 'held \\n' .. holder end
        if ARGV[4] ~= '' and redis.call('TYPE', KEYS[3])['ok'] == 'none' then redis.call('SET', KEYS[3], ARGV[4]) end
        redis.call('SET', KEYS[2], ARGV[3] .. ' ' .. ARGV[1])
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return 'mine'
        """

    /// KEYS 1 lock, 2 mark; ARGV 1 owner, 2 generation; answers `marked` and what the mark was
    /// before, `GENERATION OWNER`.
    private static let spendText = """
        if text(KEYS[1]) ~= ARGV[1] then return 'lost' end
        local before = text(KEYS[2])
        redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[1])
        return 'marked ' .. before
        """

    /// KEYS 1 lock, 2 mark, 3 record; ARGV 1 owner, 2 kind of what is replaced (`none`, `string`, `any`), 3 its bytes,
    /// 4 the new record, 5 channel, 6 message; answers `saved`, or `untold` and why nobody was told of it.
    ///
    /// Once the record is replaced nothing makes that undone or look so: others find what they are not told of, and a mark
    /// of a generation that is over means nothing.
    private static let saveText = """
        if text(KEYS[1]) ~= ARGV[1] then return 'lost' end
        local kind = redis.call('TYPE', KEYS[3])['ok']
        local present = kind == 'string' and redis.call('GETRANGE', KEYS[3], 0, \(RedisRecord.maximumBytes)) or ''
        if kind == 'string' and present == '' then kind = 'none' end
        local told
        if present ~= ARGV[4] then
          if ARGV[2] ~= 'any' and (kind ~= ARGV[2] or present ~= ARGV[3]) then return 'changed' end
          redis.call('SET', KEYS[3], ARGV[4])
          told = redis.pcall('PUBLISH', ARGV[5], ARGV[6])
        end
        redis.pcall('DEL', KEYS[2])
        if type(told) == 'table' and told['err'] then return 'untold ' .. told['err'] end
        return 'saved'
        """

    /// KEYS 1 lock, 2 mark; ARGV 1 owner, 2 what stays (`mark`, or nothing).
    ///
    /// The mark may be there without the lock: that has ended, or the mark came late. One that stays is nobody's, for whom
    /// nobody waits.
    private static let releaseText = """
        local mark = text(KEYS[2])
        if string.sub(mark, -#ARGV[1]) == ARGV[1] then
          if ARGV[2] == 'mark' then
            redis.call('SET', KEYS[2], string.match(mark, '^%d*') .. ' nobody')
          else
            redis.call('DEL', KEYS[2])
          end
        end
        if text(KEYS[1]) ~= ARGV[1] then return 'lost' end
        redis.call('DEL', KEYS[1])
        return 'mine'
        """

    /// KEYS any that mean nothing; ARGV 1 what for (`reading`, `writing`, `all`), 2 channel; answers `able`, or `unable`,
    /// which command it was, and why.
    private static let probeText = """
        local problem
        local function try(...)
          if problem then return end
          local answer = redis.pcall(...)
          if type(answer) == 'table' and answer['err'] then problem = ({...})[1] .. ' ' .. answer['err'] end
        end
        for _, key in ipairs(KEYS) do
          try('TYPE', key)
          if ARGV[1] ~= 'reading' then
            try('SET', key, '', 'PX', 1000)
            try('GETRANGE', key, 0, 0)
            try('PTTL', key)
            try('PEXPIRE', key, 1000)
            try('DEL', key)
          end
        end
        if ARGV[1] == 'all' then try('PUBLISH', ARGV[2], '') end
        return problem and 'unable ' .. problem or 'able'
        """

    /// The word that an answer begins with; what others have written may come after it, and is never taken for one.
    enum Word: String {
        /// The lock is the asker's.
        case mine
        /// Somebody has the lock, who is named.
        case held
        /// The mark is there; what it is, or was before, comes next.
        case marked
        /// The lock is somebody else's, or nobody's.
        case lost
        /// The record was replaced.
        case saved
        /// The record was replaced, and nobody was told.
        case untold
        /// The record is not what was to be replaced.
        case changed
        /// All of it may be done.
        case able
        /// It may not: the command and the server's words come next.
        case unable
    }

    private var text: String {
        switch self {
        case .acquire: Self.textFunction + Self.markFunctions + Self.acquireText
        case .renew: Self.textFunction + Self.markFunctions + Self.renewText
        case .spend: Self.textFunction + Self.spendText
        case .save: Self.textFunction + Self.saveText
        case .release: Self.textFunction + Self.releaseText
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
