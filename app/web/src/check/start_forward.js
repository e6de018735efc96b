// The worker's start script: loads the desk, and the fastest module for it that this browser supports. They are next to
// this file, wherever that is. The worker's name is the number of threads.

import { load, newProgram } from "./forward.js";

// A browser rejects a whole module if it does not know one instruction, so a small module tests for it: a function that
// applies the instruction to zeros and drops the result.
const known = (instruction, operands) => {
  const zeros = Array.from({ length: operands }, () => [0x41, 0, ...SPLAT]).flat();
  const body = [0, ...zeros, ...instruction, 0x1a, 0x0b];
  const code = [0x0a, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, ...code]));
};
const SPLAT = [0xfd, 0x11];
const MULTIPLY_ADD = [0xfd, 0x85, 0x02];

const start = async () => {
  const kind = known(MULTIPLY_ADD, 3) ? "relaxed_" : known([], 1) ? "" : "scalar_";
  const threads = Number(self.name) || 1;
  // Every browser in which workers can share memory also has SIMD.
  if (threads > 1 && crossOriginIsolated && kind !== "scalar_") {
    try {
      const { start } = await import("./threads/crew.js");
      return await start(`threaded_${kind}forward.wasm`, threads);
    } catch (error) {
      // Offline if they were never requested before, or without space for a memory that can grow.
      console.warn(`One thread in place of ${threads}: ${error.message}`);
    }
  }
  const program = newProgram(1);
  const [module, serve] = await Promise.all([load(new URL(`${kind}forward.wasm`, import.meta.url)), desk()]);
  const { exports } = await WebAssembly.instantiate(module, { desk: program.imports });
  program.attach(exports);
  serve(program);
};

const desk = async () => {
  const { default: init, serve } = await import("./desk.js");
  await init();
  return serve;
};

// Rethrown in a place where the page is notified.
start().catch((error) => setTimeout(() => { throw error; }));
