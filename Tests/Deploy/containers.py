# SPDX-License-Identifier: Apache-2.0
"""podman with a storage of its own, as it works also where there is no network of containers and no cgroup manager."""

import json
import os
import subprocess

from testing import binary, expect, need, output, run, version

USER = 65532


class Containers:
    """The image in a storage below `directory`, and containers of it."""

    def __init__(self, directory):
        need("podman", "runc", "strip")
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        configuration = os.path.join(directory, "storage.conf")
        with open(configuration, "w") as file:
            file.write(f'[storage]\ndriver = "vfs"\ngraphroot = "{directory}/images"\nrunroot = "{directory}/run"\n')
        self.environment = dict(os.environ, CONTAINERS_STORAGE_CONF=configuration, CONTAINER_TOOL="podman")
        self.image = f"localhost/bearerd:{version()}"
        self.names = []

    def make(self):
        run("make", "--silent", "image", f"BINARY={binary()}", env=self.environment)

    def podman(self, *arguments, patience=120):
        """Runs podman to its end; returns the exit code, and what it wrote."""
        done = subprocess.run(
            ["podman", "--cgroup-manager=cgroupfs", "--runtime", "runc", *arguments], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=patience)
        return done.returncode, done.stdout

    def must(self, *arguments):
        code, said = self.podman(*arguments)
        expect(code == 0, lambda: f"podman {' '.join(arguments)}: exit {code}\n{said[-3000:]}")
        return said

    def inspect(self):
        """What the image says of itself."""
        return json.loads(output("podman", "image", "inspect", self.image, env=self.environment))[0]

    def start(self, name, *options, command=()):
        """Starts a container as docs/deploy.md says, on the host's network."""
        self.names.append(name)
        self.must("run", "--detach", "--name", name, "--network", "host", "--read-only", "--read-only-tmpfs=false",
                  "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ulimit", "nofile=1024:1024",
                  "--ulimit", "nproc=512:512", *options, self.image, *command)

    def logs(self, name):
        return self.podman("logs", name)[1]

    def clean(self):
        for name in self.names:
            self.podman("rm", "--force", "--time", "0", name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.clean()
