#!/usr/bin/env python3
"""CosmicTagger and its ports, step by step: the losses of the original on the CPU beside those of each port on its stand-in.

    git clone https://github.com/coreyjadams/CosmicTagger
    python3 rehearsal/examples/cosmictagger.py CosmicTagger --portolan target/debug/portolan

ports the project to each target into a folder that is removed again, runs eight steps of the original and of each port from the same
weights on the same events (larcv's stand-in makes them up, 40 by 64 pixels), and prints a table. It needs what the kit needs.
"""

import argparse
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile

KIT = pathlib.Path(__file__).resolve().parent.parent
STEPS, BATCH, DOWNSAMPLE = 8, 4, 5
SMALL = [
    "run.id=rehearsal", "framework=torch", "run.distributed=False", f"run.iterations={STEPS}", "data.data_directory=./",
    f"data.downsample={DOWNSAMPLE}", "data.data_format=channels_first", "network.depth=3", "network.bottleneck_deepest=16",
    "network.blocks_deepest_layer=1", "network.filter_size_deepest=3", "network.n_initial_filters=4", "network.blocks_final=1",
    "network.blocks_per_layer=1", "network.normalization=none",
]
SHAPE = [str(size) for size in (3, 1280 >> DOWNSAMPLE, 2048 >> DOWNSAMPLE)]
# Column of the table: target, compute mode, folders of the kit, instances and the replicas of all of them.
COLUMNS = {
    "HPU": ("hpu", "HPU", ["gaudi"], 1, 1),
    "IPU": ("ipu", "IPU", ["ipu"], 1, 1),
    "RDU": ("rdu", "RDU", ["rdu"], 1, 1),
    **{f"PopDist, {instances} × {replicas}": ("popdist", "IPU", ["ipu", "popdist"], instances, replicas)
       for instances, replicas in ((1, 1), (1, 2), (2, 2), (2, 4))},
}


def start(root, arguments, folders, machine="cpu", record=None, **environment):
    """Starts the project's program in a copy of its own."""
    for name in ("cosmic_tagging_train.h5", "cosmic_tagging_test.h5"):
        (root / name).touch()
    path = os.pathsep.join(str(KIT / folder) for folder in ("recorder", "base", *folders))
    env = {
        **os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "STAND_IN_MACHINE": machine, "STAND_IN_TWIN_STEPS": str(STEPS),
        "STAND_IN_PRECISION": "float32", "OMP_NUM_THREADS": "1", "PT_HPU_LAZY_MODE": "0",
        **({"STAND_IN_TWIN": str(record)} if record else {}), **environment,
    }
    return subprocess.Popen([sys.executable, "bin/exec.py", *arguments], cwd=root, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finished(process, what):
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{what} ended with\n" + "\n".join(out.strip().splitlines()[-15:]))


def losses(records):
    """The objective of each step; of several instances, their mean."""
    runs = []
    for record in records:
        with open(record, "rb") as source:
            runs.append([step["objective"] for step in pickle.load(source)["steps"]])
    return [sum(values) / len(values) for values in zip(*runs)]


def original(source, folder, batch=BATCH):
    root, record = folder / f"original{batch}", folder / f"original{batch}.record"
    shutil.copytree(source, root)
    finished(start(root, [*SMALL, f"run.minibatch_size={batch}", "run.compute_mode=CPU"], [], record=record), "the original")
    return losses([record]), record


def port(portolan, source, folder, target):
    root = folder / target
    if not root.exists():
        subprocess.run([portolan, "port", "--target", target, "--out", root, source], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not (root / "bin").is_dir():
        raise SystemExit(f"{portolan} wrote no port to {target}")
    return root


def ported(root, folder, column, first):
    target, mode, folders, instances, replicas = COLUMNS[column]
    records = [folder / f"{column} {index}.record" for index in range(instances)]
    own = [*SMALL, f"run.minibatch_size={BATCH}", f"run.compute_mode={mode}"]
    if target == "rdu":
        inputs = ["-b", str(BATCH), "--image-shape", *SHAPE]
        finished(start(root, ["compile", *inputs, "--pef-name", "small", "--", *own], folders), "compiling for the RDU")
        finished(start(root, ["run", *inputs, "--pef", "out/small/small.pef", "--", *own], folders, record=records[0], STAND_IN_TWIN_START=str(first)), column)
        return losses(records)
    processes = []
    for index, record in enumerate(records):
        place = root if instances == 1 else folder / f"{target}{index}"
        if instances > 1:
            shutil.copytree(root, place)
        poprun = {
            "POPDIST_NUM_TOTAL_REPLICAS": str(replicas), "POPDIST_NUM_LOCAL_REPLICAS": str(replicas // instances),
            "POPDIST_REPLICA_INDEX_OFFSET": str(index * replicas // instances), "POPDIST_NUM_IPUS_PER_REPLICA": "1",
            "STAND_IN_STORE": str(folder / f"store {column}"),
            # The events of a step are those of one process with a batch as large as all of theirs.
            "STAND_IN_LARCV_FIRST": str(index * BATCH), "STAND_IN_LARCV_STRIDE": str(instances * BATCH),
        } if target == "popdist" else {}
        processes.append(start(place, own, folders, "hpu" if target == "hpu" else "cpu", record, STAND_IN_TWIN_START=str(first), **poprun))
    for process in processes:
        finished(process, column)
    return losses(records)


def table(columns):
    """Lines of a table: a step a row, an original and its ports a column."""
    names = list(columns)
    width = max(12, *map(len, names))
    lines = ["step  " + "  ".join(name.rjust(width) for name in names)]
    for step in range(max(map(len, columns.values()))):
        lines.append(f"{step:4}  " + "  ".join((f"{values[step]:.8f}" if step < len(values) else "-").rjust(width) for values in columns.values()))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="a checkout of CosmicTagger")
    parser.add_argument("--portolan", default="portolan", help="the command that ports (default: portolan)")
    parser.add_argument("--columns", nargs="*", default=list(COLUMNS), choices=COLUMNS, help="which ports (default: all)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        columns = {}
        columns["original"], first = original(options.source, folder)
        for column in options.columns:
            if COLUMNS[column][3] > 1:
                batch = BATCH * COLUMNS[column][3]
                columns[f"original, {batch}"], _ = original(options.source, folder, batch)
            columns[column] = ported(port(options.portolan, options.source, folder, COLUMNS[column][0]), folder, column, first)
            print(f"{column}: done", file=sys.stderr)
    print(table(columns))


if __name__ == "__main__":
    main()
