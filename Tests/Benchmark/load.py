# SPDX-License-Identifier: Apache-2.0
"""The load generator."""

import os

from processes import LOAD_CORE


def wrk(name, script, url, directory, connections, seconds, headers=()):
    """The command that asks for one URL for some seconds, each connection again as soon as it has its answer."""
    path = os.path.join(directory, name + ".lua")
    with open(path, "w") as file:
        file.write(script)
    command = ["taskset", "-c", str(LOAD_CORE), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
               "--timeout", "10s", "-s", path]
    for header in headers:
        command += ["-H", header]
    return [*command, url]
