# SPDX-License-Identifier: Apache-2.0
"""The messages and services of Debian's grpc-proto, as Python modules."""

import importlib
import os
import sys

PROTO = "/usr/share/grpc-proto"
# Under their own names they would be in grpcio's package.
FILES = {"health": "grpc/health/v1/health.proto", "empty": "grpc/testing/empty.proto",
         "messages": "grpc/testing/messages.proto", "test": "grpc/testing/test.proto"}


def available():
    return os.path.isdir(PROTO)


def load(home):
    """Makes the modules, flat in a directory of their own, and returns them by the names of FILES."""
    from grpc_tools import protoc

    source, made = os.path.join(home, "proto"), os.path.join(home, "made")
    for folder in (source, made):
        os.makedirs(folder, exist_ok=True)
    for name, path in FILES.items():
        with open(os.path.join(PROTO, path)) as file:
            text = file.read().replace('import "grpc/testing/', 'import "interop_')
        with open(os.path.join(source, f"interop_{name}.proto"), "w") as file:
            file.write(text)
    code = protoc.main(["", f"-I{source}", f"--python_out={made}", f"--grpc_python_out={made}"]
                       + [os.path.join(source, f"interop_{name}.proto") for name in FILES])
    assert code == 0, "protoc fails"
    sys.path.insert(0, made)
    return {name: (importlib.import_module(f"interop_{name}_pb2"), importlib.import_module(f"interop_{name}_pb2_grpc"))
            for name in FILES}
