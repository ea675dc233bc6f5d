# SPDX-License-Identifier: Apache-2.0
"""What one signature costs, whoever makes it."""

import re
import subprocess

from processes import PROXY_CORE


def signature_microseconds():
    """CPU time of one ES256 signature by OpenSSL, on the proxies' core."""
    output = subprocess.run(
        ["taskset", "-c", str(PROXY_CORE), "openssl", "speed", "-mr", "-seconds", "1", "ecdsap256"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=30).stdout
    return 1e6 / float(re.search(r"^\+F4:\d+:256:([\d.]+):", output, re.MULTILINE).group(1))
