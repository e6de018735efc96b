#!/usr/bin/env python3
"""CosmicTagger and its ports, step by step: the losses of the original on the CPU beside those of each port on its stand-in.

    git clone https://github.com/coreyjadams/CosmicTagger
    python3 rehearsal/examples/cosmictagger.py CosmicTagger --portolan target/debug/portolan

ports the project to each target into a folder that is removed again, and has `rehearse.py` compare eight steps of the original and of each
port: same weights, same events (larcv's stand-in makes them up, 40 by 64 pixels). It prints the losses and the verdicts. Exit status: 1 if a
port differs. It needs what the kit needs, and hydra-core.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

KIT = pathlib.Path(__file__).resolve().parent.parent
STEPS, BATCH, DOWNSAMPLE = 8, 4, 5
SMALL = [
    "run.id=rehearsal", "framework=torch", "run.distributed=False", f"run.iterations={STEPS}", "data.data_directory=./",
    f"data.downsample={DOWNSAMPLE}", "data.data_format=channels_first", "network.depth=3", "network.bottleneck_deepest=16",
    "network.blocks_deepest_layer=1", "network.filter_size_deepest=3", "network.n_initial_filters=4", "network.blocks_final=1",
    "network.blocks_per_layer=1", "network.normalization=none", f"run.minibatch_size={BATCH}",
]
SHAPE = [str(size) for size in (3, 1280 >> DOWNSAMPLE, 2048 >> DOWNSAMPLE)]
# Column of the table: target, compute mode, instances and the replicas of all of them.
COLUMNS = {
    "Gaudi": ("hpu", "HPU", 1, 1),
    "IPU": ("ipu", "IPU", 1, 1),
    "RDU": ("rdu", "RDU", 1, 1),
    **{f"PopDist, {instances} × {replicas}": ("popdist", "IPU", instances, replicas) for instances, replicas in ((1, 1), (1, 2), (2, 2), (2, 4))},
}


def port(portolan, source, folder, target):
    root = folder / target
    if not root.exists():
        subprocess.run([portolan, "port", "--target", target, "--out", root, source], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not (root / "bin").is_dir():
        raise SystemExit(f"{portolan} wrote no port to {target}")
    return root


def compared(root, source, folder, column):
    """What the kit says of a port, as in `schema/twin.schema.json`."""
    target, mode, instances, replicas = COLUMNS[column]
    own, given = [*SMALL, f"run.compute_mode={mode}"], []
    if target == "rdu":
        inputs = ["-b", str(BATCH), "--image-shape", *SHAPE]
        given = ["--first", " ".join(["compile", *inputs, "--pef-name", "small", "--", *own])]
        own = ["run", *inputs, "--pef", "out/small/small.pef", "--", *own]
    home, result = folder / "home", folder / "twin.json"
    home.mkdir(exist_ok=True)
    for name in ("cosmic_tagging_train.h5", "cosmic_tagging_test.h5"):
        (home / name).touch()
    result.unlink(missing_ok=True)
    ran = subprocess.run([
        sys.executable, KIT / "rehearse.py", "--target", target, "--project", root, "--twin", source.resolve(), "--twin-steps", str(STEPS),
        "--twin-args", " ".join([*SMALL, "run.compute_mode=CPU"]), "--instances", str(instances), "--replicas", str(replicas), "--json", result,
        *given, "--", "bin/exec.py", *own], cwd=home, text=True, capture_output=True)
    if not result.exists():
        raise SystemExit(ran.stdout + ran.stderr)
    return json.loads(result.read_text())


def table(results):
    """Lines of a table: a step a row, an original and its port a column each."""
    columns = {f"{name}{of}": [step["loss"][side] for step in result["steps"]]
               for name, result in results.items() for side, of in enumerate((": original", ""))}
    width = max(12, *map(len, columns))
    lines = ["step  " + "  ".join(name.rjust(width) for name in columns)]
    for step in range(max(map(len, columns.values()))):
        lines.append(f"{step + 1:4}  " + "  ".join((f"{values[step]:.8f}" if step < len(values) else "-").rjust(width) for values in columns.values()))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="a checkout of CosmicTagger")
    parser.add_argument("--portolan", default="portolan", help="the command that ports (default: portolan)")
    parser.add_argument("--columns", nargs="*", default=list(COLUMNS), choices=COLUMNS, help="which ports (default: all)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, results = pathlib.Path(temporary), {}
        for column in options.columns:
            root = port(options.portolan, options.source, folder, COLUMNS[column][0])
            results[column] = compared(root, options.source, folder, column)
            print(f"{column}: {results[column]['told']}", file=sys.stderr)
    print(table(results))
    return 0 if all(result["verdict"] == "equal" and not result["contracts"] for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
