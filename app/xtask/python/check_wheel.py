"""Checks a wheel of the command: its contents, then each command in a clean environment without Rust, away from the checkout.

`cargo xtask wheel` runs it. The first fault ends it, with what was expected."""

import argparse
import base64
import csv
import email
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile

TRAINER = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x = torch.rand(8, 4).cuda()
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


def require(holds, *told):
    if not holds:
        sys.exit("check_wheel: " + " ".join(str(word) for word in told))


def check_contents(wheel, version):
    """RECORD, metadata, description, licences and the two ways to start the command."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    info = next(name.split("/")[0] for name in files if name.endswith(".dist-info/METADATA"))

    record = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[info + "/RECORD"].decode()))}
    require(set(record) == set(files), "RECORD and the archive differ:", sorted(set(record) ^ set(files)))
    for name, (digest, size) in record.items():
        if name != info + "/RECORD":
            own = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            require(digest == "sha256=" + own and int(size) == len(files[name]), "RECORD is wrong about", name)

    metadata = email.message_from_string(files[info + "/METADATA"].decode())
    require(metadata["Version"] == version, "the version is", metadata["Version"], "and Cargo's is", version)
    normal = metadata["Name"].replace("-", "_")
    require(info == f"{normal}-{version}.dist-info", "the folder of the metadata is", info)
    require(os.path.basename(wheel).startswith(f"{normal}-{version}-py3-none-"), "the wheel is for one Python:", wheel)
    require(re.fullmatch(r">=3\.\d+", metadata["Requires-Python"] or ""), "Requires-Python:", metadata["Requires-Python"])
    require(metadata["License-Expression"] == "MIT OR Apache-2.0", "License-Expression:", metadata["License-Expression"])
    require(metadata["Summary"] and metadata.get_all("Classifier"), "no summary, or no classifiers")
    require(metadata.get_all("Requires-Dist") is None, "the command needs no package:", metadata.get_all("Requires-Dist"))

    licences = set(metadata.get_all("License-File") or [])
    wanted = {"LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"}
    require(licences == wanted, "License-File:", sorted(licences))
    for name in licences:
        require(files.get(f"{info}/licenses/{name}"), "no", name)
    others = files[info + "/licenses/LICENSE-THIRD-PARTY"].decode()
    for package in ["clap", "mimalloc", "tree-sitter-python", "leptos", "MiniSearch"]:
        require(re.search(rf"^{package}\b", others, re.M), "LICENSE-THIRD-PARTY does not name", package)

    require("markdown" in metadata["Description-Content-Type"], metadata["Description-Content-Type"])
    text = metadata.get_payload()
    headings = {re.sub(r"[^\w -]", "", line.lower()).strip().replace(" ", "-") for line in re.findall(r"^#+ (.*)", text, re.M)}
    for target in re.findall(r"\]\(([^)]*)\)", text):
        resolves = target.startswith("https://") or target.startswith("#") and target[1:] in headings
        require(resolves, "a link of the description leads nowhere on the package index:", target)
    require(len(text) > 2000, "the description has", len(text), "characters")

    program = [name for name in files if re.search(r"\.data/scripts/portolan(\.exe)?$", name)]
    require(len(program) == 1, "programs in the wheel:", program)
    require(program[0].endswith(".exe") or modes[program[0]] & 0o111, "the program is not executable")
    require("portolan/__main__.py" in files, "no module for `python -m portolan`")
    return metadata["Name"]


class Installed:
    """The command in an environment of its own: PATH without cargo, an empty home, a working folder outside the checkout."""

    def __init__(self, wheel, root):
        self.folder = os.path.join(root, "work")
        os.mkdir(self.folder)
        home = os.path.join(root, "home")
        os.mkdir(home)
        place = os.path.join(root, "venv")
        venv.create(place, with_pip=True)
        scripts = os.path.join(place, "Scripts" if os.name == "nt" else "bin")
        self.python = os.path.join(scripts, "python")
        private = ("CARGO", "RUST", "PORTOLAN", "PYTHON", "VIRTUAL_ENV")
        self.env = {name: value for name, value in os.environ.items() if not name.upper().startswith(private)}
        self.env.update(HOME=home, USERPROFILE=home, LOCALAPPDATA=home, XDG_CACHE_HOME=home)
        folders = [folder for folder in self.env["PATH"].split(os.pathsep) if shutil.which("cargo", path=folder) is None]
        self.env["PATH"] = os.pathsep.join([scripts] + folders)
        require(shutil.which("cargo", path=self.env["PATH"]) is None, "cargo is still on PATH")
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
        if "-musllinux_" in wheel and not is_musl():
            # It is for another C library, and runs here because it contains its own.
            tag = os.path.basename(wheel)[: -len(".whl")].split("-")[-1].split(".")[0]
            place = os.path.join(root, "target")
            pip += ["--no-deps", "--platform", tag, "--only-binary", ":all:", "--target", place]
            self.env.update(PYTHONPATH=place)
            self.env["PATH"] = os.path.join(place, "bin") + os.pathsep + self.env["PATH"]
        subprocess.run(pip + [wheel], check=True, cwd=self.folder, env=self.env)
        self.program = shutil.which("portolan", path=self.env["PATH"])
        require(self.program and self.program.startswith(root), "the command is", self.program)

    def run(self, *words, code=0, program=None):
        command = list(program or [self.program]) + list(words)
        ran = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, encoding="utf-8")
        shown = " ".join(["python -m portolan" if program else "portolan", *words])
        require(ran.returncode == code, f"`{shown}` ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        print(f"    {shown}")
        return ran.stdout, ran.stderr

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


def is_musl():
    return sys.platform.startswith("linux") and platform.libc_ver()[0] != "glibc"


def use(command, version, site, pytorch):
    """Each subcommand on a real input."""
    said, _ = command.run("--version")
    first, guides = said.splitlines()
    require(first == f"portolan {version}" and re.fullmatch("guides [0-9a-f]{64}", guides), "--version prints", said)

    command.write("train.py", TRAINER)
    patch, _ = command.run("port", "--target", "hpu", "train.py")
    require('-net = torch.nn.Linear(4, 2).cuda()\n+net = torch.nn.Linear(4, 2).to("hpu")\n' in patch, "the patch is", patch)
    port, _ = command.run("port", "--target", "hpu", "--format", "json", "train.py")
    require(guides.split()[1] in port, "the certificate has another hash of the guides than --version")
    command.run("port", "--target", "xpu", "--out", "ported", "train.py")
    require(os.path.isfile(os.path.join(command.folder, "ported", "train.py")), "--out wrote no file")
    listed, _ = command.run("recipes", "list", "--format", "json")
    require(json.loads(listed)["recipes"], "there are no recipes")
    compared, _ = command.run("matrix", "train.py")
    require("train.py:4 " in compared, "the matrix is", compared)
    known, _ = command.run("api", "torch.cuda.empty_cache")
    require("torch.cuda.empty_cache" in known, "api prints", known)
    script, _ = command.run("launch", "--target", "hpu", "--instances", "2", "--entry", "train.py")
    require(script.startswith("#!") and "train.py" in script, "the launch script is", script)

    command.run("events", "--count", "1", "--size", "64x64", "--out", "event.safetensors")
    report, _ = command.run("forward", "--config", "small", "--weights", "sample", "--input", "event.safetensors", "--format", "json")
    require(json.loads(report), "forward prints", report)

    if pytorch:
        result, _ = command.run("rehearse", "--target", "hpu", "--python", pytorch, "--format", "json", "train.py")
        require(json.loads(result)["verdict"] == "equal", "the rehearsal says", result[:2000])
    else:
        _, told = command.run("rehearse", "--target", "hpu", "train.py", code=2)
        require("PyTorch" in told, "without PyTorch a rehearsal says", told)
        print("    (no PyTorch here: only what a rehearsal says about that was checked)")

    check_site(command, site)

    module = [command.python, "-m", "portolan"]
    require(command.run("--version", program=module)[0] == said, "python -m portolan is another command")
    command.run("port", program=module, code=2)


def check_site(command, site):
    """The single-file site is served as it was built."""
    serve = [command.program, "site", "serve", "--port", "0", "--while-stdin"]
    process = subprocess.Popen(
        serve, cwd=command.folder, env=command.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().split()[-1]
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(address, timeout=60) as answer, open(site, "rb") as file:
            require(answer.headers["Content-Type"].startswith("text/html"), answer.headers["Content-Type"])
            require(answer.read() == file.read(), "the site is not the one that was built")
    finally:
        process.stdin.close()
        process.wait(timeout=60)
    print("    portolan site serve")


def use_by_uv(command, wheel, name, version):
    """The other usual way to run a command of a package, which needs no environment of the user's."""
    uv = [sys.executable, "-m", "uv", "tool", "run", "--offline", "--no-index", "--python", command.python, "--from", wheel]
    cache = dict(command.env, UV_CACHE_DIR=os.path.join(command.folder, "uv"), UV_NO_CONFIG="1")
    ran = subprocess.run(uv + ["portolan", "--version"], cwd=command.folder, env=cache, capture_output=True, text=True)
    require(ran.stdout.startswith(f"portolan {version}\n"), "uvx prints", ran.stdout, ran.stderr)
    print(f"    uvx --from {name} portolan --version")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel")
    parser.add_argument("--site", required=True, help="the file that `portolan site serve` has to serve")
    parser.add_argument("--version", required=True, help="Cargo's")
    parser.add_argument("--pytorch", help="a Python with PyTorch, for a rehearsal")
    given = parser.parse_args()
    start = time.monotonic()
    wheel = os.path.abspath(given.wheel)
    name = check_contents(wheel, given.version)
    print(f"    {os.path.basename(wheel)}: {os.path.getsize(wheel) / 2**20:.1f} MiB, contents as they should be")
    with tempfile.TemporaryDirectory() as root:
        command = Installed(wheel, os.path.realpath(root))
        use(command, given.version, os.path.abspath(given.site), given.pytorch)
        if "PYTHONPATH" not in command.env:
            use_by_uv(command, wheel, name, given.version)
    print(f"    used in {time.monotonic() - start:.0f} s")


main()
