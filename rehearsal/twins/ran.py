"""What was run, so that a result says of which files and on what it was got."""

import hashlib
import os
import pathlib
import platform


def files(original, port, projects, report):
    """SHA-256 of each file as it was run: `{path: {"original": …, "port": …}}`. Of a project these are the files that the report of the
    port names, or else all of Python; the page that ports holds them against its own."""
    if not projects:
        return {os.path.basename(port): {"original": _sum(original), "port": _sum(port)}}
    mine, other = projects
    if report is not None:
        paths = [entry["path"] for entry in report["files"]]
    else:
        paths = [path.relative_to(other).as_posix() for path in sorted(pathlib.Path(other).rglob("*.py"))]
    return {path: {"original": _sum(os.path.join(mine, path)), "port": _sum(os.path.join(other, path))} for path in paths}


def _sum(path):
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def framework(result):
    """What computed, with its version."""
    of = [(record or {}).get("of") for record in (result.port, result.original)]
    return f"TensorFlow {version('tensorflow', 'tensorflow-cpu')}" if "tensorflow" in of or version("torch") is None else f"PyTorch {version('torch')}"


def version(*packages):
    """Of the first of these that is installed."""
    import importlib.metadata

    for package in packages:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return None


def ran(options, result, arguments):
    """How the two were run."""
    return {
        "program": options.program.replace(os.sep, "/"), "arguments": arguments, "steps": options.twin_steps, "seed": options.seed,
        "precision": options.precision, "fake_data": options.fake_data, "fake_images": options.fake_images, "no_data": options.no_data, "instances": options.instances,
        "framework": framework(result), "python": platform.python_version(),
        "stand_ins": result.port["stand_ins"] if result.port else [],
    }
