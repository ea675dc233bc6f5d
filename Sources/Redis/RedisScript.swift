// SPDX-License-Identifier: Apache-2.0

import BearerdRESP

/// The Lua scripts, each of which is atomic and idempotent.
///
/// A foreign value under one of our names stops nothing: a lock or mark that is no string counts as absent. The type
/// is asked first, because a failed `GET` could also mean a missing right, and a lock that must not be read is not
/// free.
enum RedisScript {
    /// Takes the lock, unless another daemon holds it or has not told the outcome of a refresh token.
    case acquire
    /// Extends the lease, or takes the lock anew if it ended while the holder could not renew it.
    case renew
    /// Sets the mark: the holder is about to send a refresh token.
    case spend
    /// Replaces the identity's record.
    case save
    /// Releases the lock and removes the mark.
    case release
    /// Finds out whether all of that is allowed.
    case probe
    /// Notes which run of the server this is, and tells how long others may still have something newer than it.
    case settle

    /// `text(KEY)`: the text of a lock or mark, at most 256 bytes; empty if it is missing or no string.
    private static let textFunction = """
        local function text(key)
          if redis.call('TYPE', key)['ok'] ~= 'string' then return '' end
          return redis.call('GETRANGE', key, 0, 255)
        end

        """

    /// Functions about records and marks.
    ///
    /// `stored(KEY)` is the generation of a record, 0 if there is none. `foreign(MARK, OWNER, LEAST)` is true for
    /// another owner's mark of at least this generation. The owner `nobody` is not waited for.
    private static let markFunctions = """
        local function stored(key) return tonumber(string.match(text(key), '^(%d+)%c')) or 0 end
        local function foreign(mark, owner, least)
          local generation, by = string.match(mark, '^(%d+) ([ -~]+)$')
          return generation and by ~= owner and by ~= 'nobody' and tonumber(generation) >= least
        end

        """

    /// KEYS 1 lock, 2 mark, 3 record, 4 claim or missing; ARGV 1 owner, 2 milliseconds, 3 a mark whose owner is gone, 4 the
    /// generation since which the record has the newest refresh token that the caller knows, 5 the caller's claim, 6 its
    /// milliseconds.
    ///
    /// Replies `mine` and the mark that is there, whoever left it and however old; `held`, the mark and, on the next
    /// line, the holder; or `marked` and the mark.
    ///
    /// A claim is written anew while its lock is not to be had, and removed when it is.
    ///
    /// The mark of an old generation means nothing. A lock without expiry gets one. Before a mark is reported, a
    /// write (`SET NX`, which changes nothing) proves that the mark's owner could write too.
    private static let acquireText = """
        local function claim() if KEYS[4] then redis.pcall('SET', KEYS[4], ARGV[5], 'PX', ARGV[6]) end end
        local holder, left = text(KEYS[1]), text(KEYS[2])
        local mark = left
        if foreign(mark, ARGV[1], math.max(stored(KEYS[3]), tonumber(ARGV[4]))) then
          redis.call('SET', KEYS[2], '', 'NX')
        else
          mark = ''
        end
        if holder ~= '' and holder ~= ARGV[1] then
          if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
          claim()
          return 'held ' .. mark .. '\\n' .. holder
        end
        if mark ~= '' and mark ~= ARGV[3] then
          claim()
          return 'marked ' .. mark
        end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        if KEYS[4] and text(KEYS[4]) == ARGV[5] then redis.pcall('DEL', KEYS[4]) end
        return 'mine ' .. left
        """

    /// KEYS 1 lock, 2 mark, 3 record; ARGV 1 owner, 2 milliseconds, 3 the generation whose refresh token the owner
    /// has sent or nothing, 4 the record that it replaces or nothing.
    ///
    /// Replies `mine`, `held` as above, or `lost`.
    ///
    /// An owner that has sent a refresh token takes the lock anew and restores mark and record if all was deleted,
    /// unless another daemon has sent that token since or stored something newer.
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

    /// KEYS 1 lock, 2 mark; ARGV 1 owner, 2 generation, 3 milliseconds.
    ///
    /// Replies `marked` and the mark before, `GENERATION OWNER`. It extends the lease, because others wait for a whole one
    /// after the last sign of the owner.
    private static let spendText = """
        if text(KEYS[1]) ~= ARGV[1] then return 'lost' end
        local before = text(KEYS[2])
        redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[1])
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
        return 'marked ' .. before
        """

    /// KEYS 1 lock, 2 mark, 3 record; ARGV 1 owner, 2 kind of the replaced value (`none`, `string`, `any`), 3 its
    /// bytes, 4 the new record, 5 channel, 6 message.
    ///
    /// Replies `saved`, or `untold` and why nobody was told.
    ///
    /// Once the record is replaced, no later error undoes it: others find by reading what they are not told, and the
    /// mark of an old generation means nothing.
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

    /// KEYS 1 lock, 2 mark; ARGV 1 owner, 2 `mark` if the mark stays, otherwise nothing.
    ///
    /// The mark may outlive the lock, if the lock has expired or the mark was late. A mark that stays gets the owner
    /// `nobody`, who is not waited for.
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

    /// KEYS unused names; ARGV 1 the use (`reading`, `writing`, `all`), 2 channel.
    ///
    /// Replies `able`, or `unable`, the command and the error.
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

    /// KEYS 1 the run that was seen last, 2 the wait for what it may lack, 3 and more records, if any; ARGV 1 the present run, 2
    /// milliseconds, 3 `lacking` if the caller knows that the server may have lost writes, otherwise nothing.
    ///
    /// Replies how many milliseconds are left of that wait, less than one if it is over.
    ///
    /// Who has just started cannot know that the server was another one before: whoever finds another run written down,
    /// which came with the records from the one before, begins the wait for all; so does who finds a record and no run.
    private static let settleText = """
        local known = text(KEYS[1])
        local isOther = known ~= ARGV[1] and known ~= ''
        for index = 3, #KEYS do
          if known == '' and text(KEYS[index]) ~= '' then isOther = true end
        end
        if isOther or ARGV[3] == 'lacking' then redis.call('SET', KEYS[2], '', 'PX', ARGV[2]) end
        if known ~= ARGV[1] then redis.call('SET', KEYS[1], ARGV[1]) end
        return tostring(redis.call('PTTL', KEYS[2]))
        """

    /// The first word of a reply; texts of other daemons come after it and are never taken for one.
    enum Word: String {
        /// The caller has the lock.
        case mine
        /// The lock is held; the holder follows.
        case held
        /// There is a mark, or was one before; it follows.
        case marked
        /// The lock is not the caller's.
        case lost
        /// The record was replaced.
        case saved
        /// The record was replaced, and nobody was told.
        case untold
        /// The record differs from the one to replace.
        case changed
        /// Everything is allowed.
        case able
        /// A command is not allowed; it and the error follow.
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
        case .settle: Self.textFunction + Self.settleText
        }
    }

    /// The command that runs the script.
    func command(keys: [String], _ arguments: [[UInt8]]) -> RESPCommand {
        RESPCommand(
            [Array("EVAL".utf8), Array(text.utf8), Array("\(keys.count)".utf8)]
                + keys.map { Array($0.utf8) } + arguments)
    }
}
