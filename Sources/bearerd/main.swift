// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

// Before anything is opened. Without /dev/null nobody reads what is written, and that is all.
try? CurrentProcess.openStandardStreams()
// Commands hold tokens too; the daemon says so in its log if this fails.
try? CurrentProcess.forbidDumps()

exit(CommandLineInterface.run(CurrentProcess.arguments).rawValue)
