#!/usr/bin/env python3
"""Writes files in which NVIDIA's software is mentioned in many ways, at many places, for `cargo xtask corpus --projects`.

    python3 mentions.py /tmp/mentions --seed 1 --files 3500
    cargo xtask corpus --projects /tmp/mentions

Each file is a project. The lists in `mentions/` are what is mentioned, imports, tests, and the places where an expression stands (at `...`);
the files nest them at random. Such code is far denser than a program, so that messages and exceptions meet: what is told once in a file, code
that the target does not reach, code beside its own.
"""

import argparse
import pathlib
import random
import sys
import warnings

LISTS = pathlib.Path(__file__).resolve().parent / "mentions"
HEAD = """\
import os, sys, re, glob, shutil, subprocess, importlib, platform
import torch
import torch.nn as nn
import torch.distributed as dist
from pathlib import Path

"""
ORDINARY = ["1", "x", "z", '"a"', "fn(x)", "None", 'cfg["a"]', '"cpu"', 'f"a {v}"']
PARAMETERS = ["x, z, cfg, opt, device", "x, z, cfg, opt, device, use_cuda", "self, x, z, v, w, rank", ""]
TARGETS = ["use_cuda", "device", "backend", "y", "self.dev", "HAS_CUDA", 'cfg["cuda"]', "tag", "name"]
LEAVES = ["return", "return x", "raise ValueError(x)"]
HANDLERS = ["Exception", "ImportError", "RuntimeError as error"]


def lines(name):
    return (LISTS / name).read_text().splitlines()


def indented(block):
    return ["    " + line for line in block]


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.expressions, self.imports, self.tests = lines("expressions.txt"), lines("imports.txt"), lines("tests.txt")
        self.places = (LISTS / "places.txt").read_text().strip().split("\n\n")
        # The places in an expression: `[...]` in `y = [...]`.
        self.inside = [place[4:] for place in self.places if place.startswith("y = ") and "\n" not in place and ":=" not in place]

    def chance(self, share):
        return self.random.random() < share

    def expression(self, depth):
        if depth and self.chance(0.5):
            around = self.random.choice(self.inside)
            text = around.replace("...", self.expression(depth - 1))
            return f"({text})" if self.chance(0.2) else text
        return self.random.choice(self.expressions if self.chance(0.75) else ORDINARY)

    def choice(self, depth):
        """An `if` with its other arms."""
        out = [f"if {self.random.choice(self.tests)}:", *indented(self.block(depth - 1, 2))]
        while self.chance(0.3):
            out += [f"elif {self.random.choice(self.tests)}:", *indented(self.block(depth - 1, 1))]
        return out + (["else:", *indented(self.block(depth - 1, 2))] if self.chance(0.5) else [])

    def statement(self, depth):
        draw = self.random.random()
        if depth and draw < 0.25:
            return self.choice(depth)
        if depth and draw < 0.32:
            handler = f"except {self.random.choice(HANDLERS)}:"
            return ["try:", *indented(self.block(depth - 1, 2)), handler, *indented(self.block(depth - 1, 1))]
        if depth and draw < 0.38:
            return [f"if {self.random.choice(self.tests)}:", f"    {self.random.choice(LEAVES)}"]
        if draw < 0.45:
            return [self.random.choice(self.imports)]
        if draw < 0.6:
            return [f"{self.random.choice(TARGETS)} = {self.expression(2)}"]
        return self.random.choice(self.places).replace("...", self.expression(1)).split("\n")

    def block(self, depth, most):
        return [line for _ in range(self.random.randint(1, most)) for line in self.statement(depth)]

    def file(self):
        out = []
        for n in range(self.random.randint(1, 3)):
            body = self.block(3, 4)
            if self.chance(0.15):
                out += [f"class K{n}:", *indented(["def f(self, x, z, cfg, opt, device):", *indented(body)]), ""]
            else:
                out += [f"def f{n}({self.random.choice(PARAMETERS)}):", *indented(body), ""]
        return HEAD + "\n".join(out)


def compiles(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "file.py", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("folder", type=pathlib.Path)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--files", type=int, default=1000)
    asked = asked.parse_args()
    if asked.folder.exists() and any(asked.folder.iterdir()):
        sys.exit(f"mentions: {asked.folder} is not empty")
    writer, written = Writer(asked.seed), 0
    while written < asked.files:
        text = writer.file()
        if compiles(text):
            project = asked.folder / f"p{written:05}"
            project.mkdir(parents=True)
            (project / "a.py").write_text(text)
            written += 1


if __name__ == "__main__":
    main()
