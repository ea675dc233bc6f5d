# SPDX-License-Identifier: Apache-2.0
"""Proxies under valgrind, which counts instructions from when it is told to until it is told to stop."""

import os
import re
import shutil
import subprocess
from collections import Counter

from proxies import Bearerd, Haproxy, Nghttpx, NghttpxToHTTP2, Nginx


class Counted:
    """Counts nothing until `start`. Takes forty times as long as on its own, so only what it counts means anything."""

    def command(self):
        binary, *arguments = super().command()
        stripped = os.path.join(self.directory, "counted-" + self.name)
        # Valgrind reads debugging information before the first instruction; names of functions are no part of it.
        subprocess.run(["strip", "--strip-debug", "-o", stripped, shutil.which(binary)], check=True)
        self.profiles = 0
        return ["valgrind", "--tool=callgrind", "--instr-atstart=no",
                f"--callgrind-out-file={self.directory}/callgrind", stripped, *arguments]

    def control(self, *arguments):
        pid = str(self.process.child.pid)
        subprocess.run(["callgrind_control", *arguments, pid], check=True, capture_output=True, timeout=60)

    def start(self):
        """Translates the code anew, so that all that follows is counted."""
        self.control("-i", "on")
        self.control("-z")

    def finish(self):
        """What was counted since `start`."""
        self.control("-d")
        self.control("-i", "off")
        self.profiles += 1
        return Profile(os.path.join(self.directory, f"callgrind.{self.profiles}"))


class CountedBearerd(Counted, Bearerd):
    pass


class CountedHaproxy(Counted, Haproxy):
    pass


class CountedNghttpx(Counted, Nghttpx):
    pass


class CountedNghttpxToHTTP2(Counted, NghttpxToHTTP2):
    pass


class CountedNginx(Counted, Nginx):
    pass


class Profile:
    """What callgrind wrote into a file."""

    def __init__(self, path):
        self.path = path
        with open(path) as file:
            text = file.read()
        self.instructions = int(re.search(r"^summary: (\d+)", text, re.MULTILINE).group(1))
        self.calls = self.count_calls(text)

    @staticmethod
    def count_calls(text):
        """How often each function was called. A name is spelt out once, and is a number in all other places."""
        names, calls = {}, Counter()
        for number, name in re.findall(r"^c?fn=\((\d+)\) (.+)", text, re.MULTILINE):
            names[number] = plain(name)
        for number, count in re.findall(r"^cfn=\((\d+)\).*\ncalls=(\d+)", text, re.MULTILINE):
            calls[names[number]] += int(count)
        return calls

    def functions(self, count, inclusive):
        """The dearest functions with what each cost, itself or with all that it called."""
        output = subprocess.run(
            ["callgrind_annotate", f"--inclusive={'yes' if inclusive else 'no'}", "--auto=no", "--show-percs=no",
             self.path], check=True, capture_output=True, text=True).stdout
        lines = re.findall(r"^ *([\d,]+) +[^:\n]*:(.+?)(?: \[[^\]\n]*\])?$", output, re.MULTILINE)[:count]
        costs = [int(cost.replace(",", "")) for cost, _ in lines]
        return zip(costs, demangled([name for _, name in lines]))


def plain(name):
    """A function's name without its version, and without the level of a recursive call."""
    return re.sub(r"@@?[\w.]+|'\d+$", "", name)


def demangled(names):
    """As they are in the source; as they are in the binary where there is no Swift."""
    names = [plain(name) for name in names]
    if not shutil.which("swift"):
        return names
    output = subprocess.run(
        ["swift", "demangle", "--simplified"], input="\n".join(names), check=True, capture_output=True, text=True)
    return output.stdout.splitlines()
