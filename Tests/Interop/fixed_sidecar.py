# SPDX-License-Identifier: Apache-2.0
"""bearerd between a test's client and server, with a token endpoint whose token can be renewed."""

import json
import os
import subprocess
import threading

from json_server import JSONServer

TOKEN = "not-a-secret-but-a-token-1"
CONFIGURATION = """
listen: 127.0.0.1:0
log: {{format: json}}
identities:
  default:
    token_endpoint: http://127.0.0.1:{token_port}/token
    client_id: test
    client_secret: not-a-secret
    grant_type: client_credentials
routes:
  - {{path: /, upstream: "http://127.0.0.1:{port}", upstream_protocol: {protocol}, identity: default}}
store:
  type: memory
"""


class Sidecar:
    def __init__(self, upstream_port, home, next_token=None, protocol="http1"):
        """`next_token` makes the answers of the token endpoint; without it they have the same token for an hour."""
        self.token = TOKEN
        self.endpoint = JSONServer(lambda *_: next_token() if next_token else {
            "access_token": self.token, "token_type": "Bearer", "expires_in": 3600})
        file = os.path.join(home, "config.yaml")
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as config:
            config.write(CONFIGURATION.format(token_port=self.endpoint.server_port, port=upstream_port, protocol=protocol))
        binary = os.environ.get("BEARERD", ".build/debug/bearerd")
        self.process = subprocess.Popen([binary, "run", "-c", file], stderr=subprocess.PIPE, text=True)
        self.port = self._port()

    def renew(self):
        """Has the endpoint give another token from now on."""
        self.token = "not-a-secret-but-a-token-2"

    def _port(self):
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            said = json.loads(line)
            if said.get("listener") == "proxy":
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return int(said["address"].rsplit(":", 1)[1])
        raise AssertionError("bearerd does not start: " + "".join(lines))

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.process.terminate()
        code = self.process.wait(30)
        self.endpoint.stop()
        if arguments[0] is None and code != 0:
            raise AssertionError(f"bearerd ended with {code}")
