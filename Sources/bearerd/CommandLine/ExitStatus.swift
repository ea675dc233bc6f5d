// SPDX-License-Identifier: Apache-2.0

/// The exit status of the process; the numbers from 64 are those of `sysexits.h`.
enum ExitStatus: Int32 {
    /// Done, or drained.
    case success = 0
    /// The command failed, or the drain timed out.
    case failure = 1
    /// The command line is wrong (`EX_USAGE`).
    case usage = 64
    /// An input is malformed (`EX_DATAERR`).
    case badData = 65
    /// An input file is missing (`EX_NOINPUT`).
    case missingInput = 66
    /// A service is unavailable (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// The system refuses a thread, a descriptor or randomness (`EX_OSERR`).
    case systemRefuses = 71
    /// A file cannot be created (`EX_CANTCREAT`).
    case cannotCreate = 73
    /// Reading or writing failed (`EX_IOERR`).
    case inputOutput = 74
    /// The permission is lacking, or somebody must log in (`EX_NOPERM`).
    case permission = 77
    /// The configuration is missing or wrong (`EX_CONFIG`).
    case configuration = 78

    /// The statuses with their meanings, for the manual.
    static let meanings: [(ExitStatus, String)] = [
        (.success, "done, or drained"),
        (.failure, "the drain timed out, or the command failed"),
        (.usage, "wrong usage, or an unknown identity"),
        (.badData, "an input is malformed"),
        (.missingInput, "an input file is missing"),
        (.unavailable, "a service is unavailable"),
        (.systemRefuses, "the system refuses a thread, a descriptor or randomness"),
        (.cannotCreate, "a file cannot be created"),
        (.inputOutput, "reading or writing failed"),
        (.permission, "not permitted: somebody must log in, or the store is somebody else's"),
        (.configuration, "the configuration is missing or wrong, or the provider refuses this client"),
    ]
}
