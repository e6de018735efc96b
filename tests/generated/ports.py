"""The command `portolan port`, and what it says."""

import json
import pathlib
import shutil
import subprocess


class Port:
    """A port in a folder, and its report."""

    def __init__(self, folder, report):
        self.folder, self.report = folder, report

    @property
    def said(self):
        """Its messages, with the file of each."""
        return [{**one, "path": file["path"]} for file in self.report["files"] for one in file["diagnostics"]]

    @property
    def refusals(self):
        return [one for one in self.said if one["stops_step"]]

    @property
    def edits(self):
        return [{**edit, "path": file["path"]} for file in self.report["files"] for edit in file["edits"]]

    def text(self, path):
        return (self.folder / path).read_text(encoding="utf-8")


class Command:
    def __init__(self, program):
        self.program = str(program)

    def port(self, folder, target, out, style="auto"):
        """Ports a project's folder into another; everything that is no Python goes along."""
        out = pathlib.Path(out)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder, out)
        done = subprocess.run([self.program, "port", "--target", target, "--style", style, "--format", "json", "--out", str(out), "--force", str(folder)],
                              capture_output=True, text=True, timeout=60)
        if not done.stdout:
            raise RuntimeError(f"portolan ended with {done.returncode}: {done.stderr}")
        return Port(out, json.loads(done.stdout))


def write(program, folder):
    """A program's files in a folder of its own."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in program.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
