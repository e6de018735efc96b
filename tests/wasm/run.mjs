// Runs a WASI program, such as the tests of a crate, under Node: `node --single-threaded run.mjs FILE.wasm ARGUMENT…`. It sees
// the files of the checkout. With V8's background threads, Node 20 crashes at the end of a program that ran for long.

import { readFile } from "node:fs/promises";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// Node's older releases know relaxed SIMD only by this flag; newer ones know it anyway, and no such flag.
setFlagsFromString("--experimental-wasm-relaxed-simd");
const [, , file, ...words] = argv;
// The warning that WASI is experimental would stand between the lines of every test.
process.removeAllListeners("warning");
const { WASI } = await import("node:wasi");
const checkout = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const wasi = new WASI({ version: "preview1", args: [file, ...words], preopens: { [checkout]: checkout } });
const { instance } = await WebAssembly.instantiate(await readFile(file), wasi.getImportObject());
process.exitCode = wasi.start(instance);
