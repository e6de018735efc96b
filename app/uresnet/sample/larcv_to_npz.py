"""Takes events out of larcv's HDF5 files for `portolan forward --input`.

    python3 larcv_to_npz.py cosmic_tagging_light.h5 events.npz --count 5
    portolan forward --config uresnet --input events.npz --event 0 --downsample 4

Needs h5py and NumPy. A file of larcv3 has a group Data/sparse2d_NAME_group for each producer, with three tables that lead from an
event to its voxels: `extents` (event to its planes), `voxel_extents` (plane to its voxels) and `voxels` (id and value). A voxel's
id counts down the columns: col * ROWS + row.
"""

import argparse

import h5py
import numpy

ROWS = 1280


def planes_of(group, event):
    """Plane number, ids and values of each plane of an event."""
    first, count = (int(number) for number in list(group["extents"][event])[:2])
    for entry in group["voxel_extents"][first : first + count]:
        start, length, plane = (int(number) for number in entry)
        voxels = group["voxels"][start : start + length]
        # By their order, which the format fixes, and not by the columns' names.
        ids, values = (voxels[name] for name in voxels.dtype.names)
        yield plane, ids.astype(numpy.int64), values.astype(numpy.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("out", help="an .npz file")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--charge", default="sbndwire", help="producer of the pixels' values")
    parser.add_argument("--labels", default="sbnd_cosmicseg", help="producer of their classes; empty for none")
    arguments = parser.parse_args()
    columns = {name: [] for name in ("event", "plane", "row", "col", "value", "label")}
    with h5py.File(arguments.file) as file:
        charges = file[f"Data/sparse2d_{arguments.charge}_group"]
        labels = file[f"Data/sparse2d_{arguments.labels}_group"] if arguments.labels else None
        for event in range(arguments.first, arguments.first + arguments.count):
            classes = {plane: (ids, values) for plane, ids, values in planes_of(labels, event)} if labels else {}
            for plane, ids, values in planes_of(charges, event):
                columns["event"].append(numpy.full(len(ids), event))
                columns["plane"].append(numpy.full(len(ids), plane))
                columns["row"].append(ids % ROWS)
                columns["col"].append(ids // ROWS)
                columns["value"].append(values)
                if labels:
                    known, found = classes[plane]
                    order = numpy.argsort(known)
                    place = numpy.clip(numpy.searchsorted(known[order], ids), 0, max(len(known) - 1, 0))
                    same = known[order][place] == ids
                    columns["label"].append(numpy.where(same, found[order][place], 0))
    arrays = {name: numpy.concatenate(parts).astype(numpy.float32) for name, parts in columns.items() if parts}
    numpy.savez_compressed(arguments.out, **arrays)
    print(f"{arguments.out}: {arguments.count} events, {len(arrays['value'])} pixels")


if __name__ == "__main__":
    main()
