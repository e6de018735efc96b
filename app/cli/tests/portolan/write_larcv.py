"""Writes larcv.h5: two small synthetic events in the layout of larcv 3, as the HDF5 library itself lays them down.

    python3 write_larcv.py      # needs h5py and NumPy

Event n has on plane p the voxels (row r, col 2 r + p) with the charge 10 n + r + 0.5, r = 0 … 4, of which the even rows are
cosmic (1) and the others neutrino (2).
"""

import pathlib

import h5py
import numpy

COLUMNS, ROWS = 64, 32
EXTENT = {"names": ["first", "N"], "formats": ["<u8", "<u4"], "offsets": [0, 8], "itemsize": 16}
PLANE = [("first", "<u8"), ("N", "<u4"), ("ID", "<u4")]
VOXEL = {"names": ["id", "value"], "formats": ["<u8", "<f4"], "offsets": [0, 8], "itemsize": 16}
META = {
    "names": ["valid", "projection_id", "image_sizes", "number_of_voxels", "origin"],
    "formats": ["u1", "<u8", ("<f8", (2,)), ("<u8", (2,)), ("<f8", (2,))],
    "offsets": [0, 8, 16, 32, 48],
    "itemsize": 72,
}


def write(group, name, rows, kind, chunk):
    group.create_dataset(name, data=numpy.array(rows, dtype=kind), maxshape=(None,), chunks=(chunk,), compression="gzip")


with h5py.File(pathlib.Path(__file__).with_name("larcv.h5"), "w") as file:
    for producer, value in (
        ("sbndwire", lambda event, row: 10 * event + row + 0.5),
        ("sbnd_cosmicseg", lambda event, row: 1 + row % 2),
    ):
        group = file.create_group(f"Data/sparse2d_{producer}_group")
        extents, planes, metas, voxels = [], [], [], []
        for event in range(2):
            extents.append((len(planes), 3))
            for plane in range(3):
                planes.append((len(voxels), 5, plane))
                metas.append((1, plane, (COLUMNS, ROWS), (COLUMNS, ROWS), (0, 0)))
                voxels += [((2 * row + plane) * ROWS + row, value(event, row)) for row in range(5)]
        write(group, "extents", extents, EXTENT, 10)
        write(group, "voxel_extents", planes, PLANE, 100)
        write(group, "image_meta", metas, META, 100)
        write(group, "voxels", voxels, VOXEL, 8)
    file.create_group("Events")
