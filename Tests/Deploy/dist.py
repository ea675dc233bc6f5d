# SPDX-License-Identifier: Apache-2.0
"""Tarballs with the same bytes from the same input, and what make install does, and undoes."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tarfile

from testing import BUILD, Process, answers, binary, expect, free_port, manual, need, output, run, version


def source(checkout="."):
    return os.path.join(checkout, ".build", f"bearerd-{version()}.tar.gz")


def built():
    return os.path.join(BUILD, f"bearerd-{version()}-linux-{platform.machine()}.tar.gz")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def files_below(directory):
    return sorted(os.path.relpath(os.path.join(folder, name), directory)
                  for folder, _, names in os.walk(directory) for name in names)


def test_the_changelog_begins_with_the_version_of_the_binary():
    newest = re.search(r"^## (\S+)", open("CHANGELOG.md").read(), re.M)[1]
    expect(newest == version() == output(binary(), "--version").split()[-1],
           f"CHANGELOG.md: {newest}, source: {version()}, binary: {output(binary(), '--version')}")


def test_the_same_input_makes_the_same_bytes(directory):
    need("strip")
    run("deploy/dist", version(), binary())
    first = digest(source()), digest(built())
    copy = os.path.join(directory, "bearerd")
    shutil.copy(binary(), copy)  # as built at another time, by somebody with other habits
    os.chmod(copy, 0o700)
    subprocess.run(["sh", "-c", 'umask 077; TZ=Asia/Tokyo LC_ALL=C.UTF-8 deploy/dist "$@"', "dist", version(), copy],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    expect((digest(source()), digest(built())) == first, "the second tarballs differ from the first")


def test_the_checksums_are_those_of_the_tarballs():
    run("deploy/dist", version(), binary())
    said = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=BUILD)
    expect(said.count(": OK") == 2 and os.path.basename(built()) in said, said)


def test_a_tarball_made_from_the_source_tarball_is_that_tarball(directory):
    run("deploy/dist", version())
    with tarfile.open(source()) as archive:
        names = archive.getnames()
    run("tar", "--extract", "--file", source(), "--directory", directory)
    unpacked = os.path.join(directory, f"bearerd-{version()}")
    expect(all(name.startswith(f"bearerd-{version()}/") for name in names), "files beside the folder")
    expect(not [name for name in names if "/.build/" in name or "/.git/" in name], "build products are in it")
    for name in ("Makefile", "Package.swift", "LICENSE", "deploy/bootstrap", "Sources/bearerd/Version.swift"):
        expect(os.path.exists(os.path.join(unpacked, name)), f"{name} is not in it")
    run("deploy/dist", version(), cwd=unpacked)
    expect(digest(source(unpacked)) == digest(source()), "made again, it differs")
    run("deploy/image/root", binary(), version(), os.path.join(directory, "image", "root"), cwd=unpacked)


def test_the_binary_tarball_runs_where_it_is_unpacked(directory):
    need("strip")
    run("deploy/dist", version(), binary())
    with tarfile.open(built()) as archive:
        owners = {(member.uid, member.gid, member.mode & 0o022) for member in archive}
    run("tar", "--extract", "--file", built(), "--directory", directory)
    expect(owners == {(0, 0, 0)}, f"owners and modes: {owners}")
    program = os.path.join(directory, f"bearerd-{version()}-linux-{platform.machine()}", "bin", "bearerd")
    expect(version() in output(program, "--version"), "it is of another version")
    expect("no symbols" in run("nm", program), "the binary is not stripped")


def test_install_builds_nothing_and_uninstall_leaves_nothing(directory):
    need("strip")
    without_swift = os.path.join(directory, "bin")
    os.mkdir(without_swift)
    for tool in ("bash", "sh", "make", "sed", "dirname", "mktemp", "cp", "strip", "install", "rm"):
        os.symlink(shutil.which(tool), os.path.join(without_swift, tool))
    root = os.path.join(directory, "a root")
    arguments = [f"BINARY={binary()}", f"DESTDIR={root}", "PREFIX=/opt/it"]
    run("make", "install", *arguments, env={"PATH": without_swift})
    program = os.path.join(root, "opt/it/bin/bearerd")
    expect(os.stat(program).st_mode & 0o7777 == 0o755, "wrong mode")
    expect(version() in output(program, "--version"), "it does not run")
    expect(os.path.getsize(program) < os.path.getsize(binary()), "it is not stripped")
    pages = [f"opt/it/share/man/{page}" for page in manual()]
    completions = ["opt/it/share/bash-completion/completions/bearerd", "opt/it/share/zsh/site-functions/_bearerd",
                   "opt/it/share/fish/vendor_completions.d/bearerd.fish"]
    expected = ["opt/it/bin/bearerd", "opt/it/share/bearerd/bearerd.schema.json", *pages, *completions]
    expect(files_below(root) == sorted(expected), f"installed: {files_below(root)}")
    other = os.path.join(root, "opt/it/bin/other")
    open(other, "w").close()
    run("make", "uninstall", *arguments, env={"PATH": without_swift})
    expect(files_below(root) == ["opt/it/bin/other"], f"left: {files_below(root)}")


def test_install_says_what_to_do_when_nothing_was_built(directory):
    done = subprocess.run(["make", "install", f"BINARY={directory}/bearerd", f"DESTDIR={directory}/root"],
                          capture_output=True, text=True)
    expect(done.returncode and "make release" in done.stderr, f"exit {done.returncode}: {done.stderr}")
    expect(not os.path.exists(f"{directory}/root"), "something was installed")


def test_make_run_serves_a_clone_that_the_group_may_write_to(directory):
    for name in ("Makefile", "config.yaml", "Sources/bearerd/Version.swift"):
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        shutil.copy(name, os.path.join(directory, name))
    program = os.path.join(directory, ".build/release/bearerd")
    os.makedirs(os.path.dirname(program))
    os.symlink(binary(), program)
    config = os.path.join(directory, "config.yaml")
    text = open(config).read()
    ports = {port: str(free_port()) for port in re.findall(r"^[^#\n]*127\.0\.0\.1:(\d+)", text, re.M)}
    for port, free in ports.items():
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free}")
    with open(config, "w") as file:
        file.write(text)
    os.chmod(config, 0o664)
    refused = subprocess.run([binary(), "check", "-c", config], capture_output=True, text=True)
    expect(refused.returncode == 78 and "chmod go-w" in refused.stderr, f"nothing to mend: {refused.stderr}")
    served = Process(["make", "--directory", directory, "--assume-old=release", "run"], os.path.join(directory, "log"))
    try:
        served.wait_until(lambda: answers(f"http://127.0.0.1:{ports['8080']}/whoami"), "make run", seconds=60)
    finally:
        served.stop()
