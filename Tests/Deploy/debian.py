# SPDX-License-Identifier: Apache-2.0
"""The package: what lintian says of it, and what is in it."""

import hashlib
import os
import re
import subprocess

from testing import BUILD, binary, expect, manual, need, output, run, version


def package():
    return os.path.join(BUILD, f"bearerd_{version()}_{output('dpkg', '--print-architecture')}.deb")


def make(**environment):
    need("dh", "strip", "dpkg-buildpackage", "fakeroot")
    run("make", "--silent", "deb", f"BINARY={binary()}", env={**os.environ, **environment})
    return package()


def listed():
    """Mode, owner and name of each file."""
    return [(line.split()[0], line.split()[1], line.split()[5]) for line in
            output("dpkg-deb", "--contents", package()).splitlines()]


def test_it_is_made_and_lintian_finds_nothing():
    need("lintian")
    make()
    said = subprocess.run(["lintian", "--fail-on", "none", package()], capture_output=True, text=True).stdout
    found = [line for line in said.splitlines() if re.match(r"[EW]: ", line)]
    expect(not found, "\n".join(found))


def test_it_has_what_a_package_has():
    names = [name for _, _, name in listed()]
    wanted = ["./usr/bin/bearerd", "./etc/bearerd/config.yaml", "./lib/systemd/system/bearerd.service",
              "./lib/systemd/system/bearerd@.service", "./lib/systemd/system/bearerd.socket",
              "./usr/lib/sysusers.d/bearerd.conf", "./usr/share/bearerd/bearerd.schema.json", "./usr/share/doc/bearerd/copyright"]
    wanted += ["./usr/share/bash-completion/completions/bearerd", "./usr/share/zsh/vendor-completions/_bearerd",
               "./usr/share/fish/vendor_completions.d/bearerd.fish"]
    wanted += [f"./usr/share/man/{page}.gz" for page in manual()]
    expect(set(wanted) <= set(names), f"missing: {set(wanted) - set(names)}")
    expect({owner for _, owner, _ in listed()} == {"root/root"}, "files of somebody else")
    conffiles = output("dpkg-deb", "--info", package(), "conffiles").splitlines()
    expect(conffiles == ["/etc/bearerd/config.yaml"], conffiles)


def test_its_configuration_is_one_that_bearerd_takes(directory):
    run("dpkg-deb", "--extract", package(), directory)
    path = os.path.join(directory, "etc/bearerd/config.yaml")
    with open(path) as file:
        text = file.read()
    # The user that it names is made when the package is installed.
    with open(path, "w") as file:
        file.write(text.replace("owner: bearerd ", f"owner: {os.getuid()} "))
    run(binary(), "check", "-c", path)


def test_the_same_input_makes_the_same_bytes():
    digests = []
    for again in (False, True):
        with open(make(TZ="Asia/Tokyo") if again else package(), "rb") as file:
            digests.append(hashlib.sha256(file.read()).hexdigest())
    expect(digests[0] == digests[1], "the second package differs from the first")
