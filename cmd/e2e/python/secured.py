"""A cluster with TLS everywhere, users, and scanners that know their coordinator."""

import dataclasses
import pathlib
import subprocess

import trustme

from access import Access
from conftest import BINARY

USER, PASSWORD = "alice", "correct horse"


def start(start_cluster, scanners: list[list[str]], out: pathlib.Path, *advertise: str) -> Access:
    ca = trustme.CA()
    certificate = ca.issue_cert("127.0.0.1", "localhost")
    roots, key, chain, secret, users = (out / name for name in ("roots.pem", "key.pem", "chain.pem", "secret", "users"))
    ca.cert_pem.write_to_path(roots)
    certificate.private_key_pem.write_to_path(key)
    chain.write_bytes(b"".join(c.bytes() for c in certificate.cert_chain_pems))
    secret.write_text("a secret of the coordinator and its scanners\n")
    users.write_text(subprocess.run([BINARY, "user", USER], input=PASSWORD + "\n", capture_output=True, text=True, check=True).stdout)
    for path in (key, secret, users):
        path.chmod(0o600)
    tls = ["--tls-cert", str(chain), "--tls-key", str(key), "--secret-file", str(secret)]
    cluster = start_cluster([flags + tls + list(advertise) for flags in scanners], [*tls, "--scanner-tls-ca", str(roots), "--users-file", str(users)])
    return Access("basic", cluster, user=USER, password=PASSWORD, roots=roots)


def by_token(access: Access) -> Access:
    """The same cluster by the token of a login."""
    with access.flight() as f:
        _, header = f.client.authenticate_basic_token(access.user, access.password)
    return dataclasses.replace(access.anonymous(), name="bearer", token=header.decode().removeprefix("Bearer "))
