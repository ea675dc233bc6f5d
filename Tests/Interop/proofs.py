# SPDX-License-Identifier: Apache-2.0
"""Proofs of possession as a resource server judges them (RFC 9449 section 4.3)."""

import base64
import hashlib
import json
import time

import jwt

SECONDS = 60


class ProofJudge:
    """Holds a request's proof against the request, its token, and what was seen before."""

    def __init__(self):
        self.seen = set()

    def __call__(self, headers, method, url, token, claims):
        proofs = headers.get_all("DPoP") or []
        if len(proofs) != 1:
            raise ValueError(f"{len(proofs)} proofs")
        header = jwt.get_unverified_header(proofs[0])
        if header.get("typ") != "dpop+jwt" or header.get("alg") not in ("ES256", "EdDSA") or "d" in header["jwk"]:
            raise ValueError(f"a proof with the header {header}")
        said = jwt.decode(proofs[0], jwt.PyJWK(header["jwk"]).key, algorithms=[header["alg"]],
                          options={"verify_iat": False})
        for name, wanted in (("htm", method), ("htu", url.split("?")[0]), ("ath", digest(token.encode()))):
            if said.get(name) != wanted:
                raise ValueError(f"{name} is {said.get(name)}, not {wanted}")
        if abs(time.time() - said["iat"]) > SECONDS or said["jti"] in self.seen:
            raise ValueError("an old proof")
        self.seen.add(said["jti"])
        if claims.get("cnf", {}).get("jkt") != thumbprint(header["jwk"]):
            raise ValueError("the token is bound to another key")


def digest(data):
    """SHA-256 in base64url."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def thumbprint(jwk):
    """RFC 7638."""
    members = {name: jwk[name] for name in ("crv", "kty", "x", "y") if name in jwk}
    return digest(json.dumps(members, sort_keys=True, separators=(",", ":")).encode())
