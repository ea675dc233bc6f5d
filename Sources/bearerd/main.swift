// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdKeyring
import BearerdSystem
import Glibc

// Before anything is opened. Without /dev/null nobody reads what is written, and that is all.
try? CurrentProcess.openStandardStreams()
// Commands hold tokens too; the daemon says so in its log if this fails.
try? CurrentProcess.forbidDumps()

// Threads of stores and sources may be at work when the main thread leaves.
CryptographyLibrary.outliveExit()

// libsecret runs in a process of its own, which is this program once more.
if KeyringHelper.answers(CurrentProcess.arguments) { exit(ExitStatus.success.rawValue) }
exit(CommandLineInterface(catalog: .all).run(CurrentProcess.arguments).rawValue)
