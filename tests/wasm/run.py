"""Runs a WASI program, such as the tests of a crate, under Wasmtime: `python3 run.py SIMD FILE.wasm ARGUMENT...`, where
SIMD is `simd` or `plain`. A plain engine rejects a module that contains a SIMD instruction. The program has access to the files of
the checkout.
"""

import sys
from pathlib import Path

from wasmtime import Config, Engine, ExitTrap, Linker, Module, Store, WasiConfig


def main(simd, file, *words):
    config = Config()
    config.wasm_relaxed_simd = config.wasm_simd = simd == "simd"
    wasi = WasiConfig()
    wasi.argv = [file, *words]
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    checkout = str(Path(__file__).resolve().parents[2])
    wasi.preopen_dir(checkout, checkout)
    engine = Engine(config)
    store = Store(engine)
    store.set_wasi(wasi)
    linker = Linker(engine)
    linker.define_wasi()
    instance = linker.instantiate(store, Module.from_file(engine, file))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as end:
        return end.code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
