// The worker's first lines: the fastest module that this browser takes. They lie beside this file, wherever that is.

// Of a module nothing runs where one instruction is unknown, so a small one that holds it tells: a function that makes
// its operands of zeros, and drops the result.
const known = (instruction, operands) => {
  const zeros = Array.from({ length: operands }, () => [0x41, 0, ...SPLAT]).flat();
  const body = [0, ...zeros, ...instruction, 0x1a, 0x0b];
  const code = [0x0a, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, ...code]));
};
const SPLAT = [0xfd, 0x11];
const MULTIPLY_ADD = [0xfd, 0x85, 0x02];

const start = async () => {
  const { default: init } = known(MULTIPLY_ADD, 3)
    ? await import("./relaxed_forward.js")
    : known([], 1)
      ? await import("./forward.js")
      : await import("./scalar_forward.js");
  await init();
};

// Thrown where the page hears it.
start().catch((error) => setTimeout(() => { throw error; }));
