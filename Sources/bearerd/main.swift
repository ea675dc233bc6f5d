// SPDX-License-Identifier: Apache-2.0

import Glibc

exit(CommandLineInterface.run(Array(CommandLine.arguments.dropFirst())).rawValue)
