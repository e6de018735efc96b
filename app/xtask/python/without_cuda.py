"""Lets a PyTorch for x86-64 Linux run without the libraries for NVIDIA's cards.

    python3 without_cuda.py

to be called with the Python that PyTorch is installed in, after `pip install --no-deps torch`. Doing so again changes nothing.

For x86-64 Linux the Python Package Index has PyTorch built for CUDA alone. It asks for three gigabytes of libraries that a machine
without such a card never calls. The loader wants their symbols nevertheless, so each library that is missing is put in place as one
in which every symbol is a function that does nothing but give 100. That is CUDA's number for "there is no device"
(cudaErrorNoDevice), and PyTorch reads the machine as one without a card. The kernels for CUDA that PyTorch itself brings are the
better half of what is installed; the file systems that can are asked to forget their bytes.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sysconfig
import tempfile

# What is there anyway: libraries of the system, and the interpreter with its symbols.
SYSTEM = re.compile(r"(lib(pthread|m|dl|c|rt|stdc\+\+|gcc_s)|ld-linux-x86-64)\.so")
PROCESS = [ctypes.CDLL(name) for name in (None, "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1")]


def read(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    """Names of the libraries that one is linked with."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", read("readelf", "-dW", library))


def homes(library):
    """The library that each version of the symbols it wants is of: `NVSHMEM` of `libnvshmem_host.so.3`."""
    found, file = {}, ""
    for line in read("readelf", "-VW", library).partition("Version needs")[2].splitlines():
        file = (re.findall(r"File: (\S+)", line) or [file])[0]
        found.update((version, file) for version in re.findall(r"Name: (\S+)", line))
    return found


def symbols(library):
    """The names that a library defines, and the symbols it wants: `(name, version)`, the version empty where there is none."""
    defined, wanted = set(), set()
    for line in read("readelf", "--dyn-syms", "-W", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        name, _, version = fields[7].replace("@@", "@").partition("@")
        if fields[6] != "UND":
            defined.add(name)
        elif fields[4] != "WEAK":
            wanted.add((name, version))
    return defined, wanted


def loaded(folder):
    """The libraries of PyTorch that an import loads, and the names of those that are missing."""
    queue, found, missing = [*folder.glob("_C*.so"), folder / "lib" / "libtorch_global_deps.so", *folder.glob("lib/libnvfuser_codegen.so")], [], set()
    while queue:
        library = queue.pop()
        if library in found:
            continue
        found.append(library)
        for name in needed(library):
            if (folder / "lib" / name).is_file():
                queue.append(folder / "lib" / name)
            elif not SYSTEM.match(name):
                missing.add(name)
    return found, missing


def put_in_place(file, wanted):
    """Writes a shared library in which each symbol is a function that gives 100."""
    source = ["\t.text", "no_device:", "\tmovl $100, %eax", "\tret"]
    versions = {}
    for name, version in sorted(wanted):
        source += [f"\t.globl {name}", f"\t.type {name}, @function", f"\t.set {name}, no_device"]
        versions.setdefault(version, []).append(name)
    source += ['\t.section .note.GNU-stack,"",@progbits', ""]
    script = [f"{version} {{ global: {'; '.join(names)}; }};" for version, names in versions.items() if version]
    with tempfile.TemporaryDirectory() as folder:
        assembly, map_ = pathlib.Path(folder, "symbols.s"), pathlib.Path(folder, "versions")
        assembly.write_text("\n".join(source))
        map_.write_text("\n".join(script))
        options = [f"-Wl,--version-script={map_}"] if script else []
        compiler = [os.environ.get("CC", "cc"), "-shared", "-nostdlib", f"-Wl,-soname,{file.name}"]
        subprocess.run([*compiler, *options, "-o", file, assembly], check=True)


def forget_kernels(library):
    """Makes a hole where the machine code for CUDA's devices is: it reads as zeros from then on, and takes no room."""
    section = re.search(r"\.nv_fatbin\s+\w+\s+\w+\s+(\w+)\s+(\w+)", read("readelf", "-SW", library))
    if section:
        offset, length = (int(number, 16) for number in section.groups())
        command = ["fallocate", "--punch-hole", "--offset", str(offset), "--length", str(length), str(library)]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)


def main():
    folder = pathlib.Path(sysconfig.get_path("platlib"), "torch")
    libraries, missing = loaded(folder)
    tables = [symbols(library) for library in libraries]
    defined = set().union(*(own for own, _ in tables))
    wanted = {
        (name, version) for _, others in tables for name, version in others
        if name not in defined and not any(hasattr(library, name) for library in PROCESS)}
    home = {version: file for library in libraries for version, file in homes(library).items()}
    for name in sorted(missing):
        # A symbol without a version may be in any library that is always loaded: cuBLAS or CUDA itself.
        home.setdefault("", name)
        put_in_place(folder / "lib" / name, {symbol for symbol in wanted if home.get(symbol[1]) == name})
    for library in folder.glob("lib/libtorch_cuda*.so"):
        forget_kernels(library)


if __name__ == "__main__":
    main()
