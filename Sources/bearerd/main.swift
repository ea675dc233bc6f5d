// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

// Commands hold tokens too; the daemon says so in its log if this fails.
try? CurrentProcess.forbidDumps()

exit(CommandLineInterface.run(Array(CommandLine.arguments.dropFirst())).rawValue)
