// The JavaScript side of `app/forward`: a module that runs the network, as an object that the desk calls
// (`program.rs`).

/** Fetches and compiles a module. A host may not know its kind of file, so it is not taken as a stream. */
export async function load(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** A program for so many threads: its module is instantiated with `imports`, and its exports given to `attach`. */
export function newProgram(threads) {
  let memory, compute, desk;
  const bytes = (start, count) => new Uint8Array(memory.buffer, start >>> 0, count >>> 0);
  const floats = (start, count) => new Float32Array(memory.buffer, start >>> 0, count >>> 0);
  // Text can't be decoded directly from shared memory.
  const text = (start, count) => new TextDecoder().decode(bytes(start, count).slice());
  return {
    imports: {
      order: (to) => bytes(to, desk.order.length).set(desk.order),
      picture: (to, count) => desk.picture(floats(to, count)),
      weight: (name, length, to, count) => desk.weight(text(name, length), floats(to, count)),
      planned: (head, length) => desk.planned(bytes(head, length)),
      before: (step) => desk.before(step),
      stage: (head, length, numbers, count) => desk.stage(bytes(head, length), floats(numbers, count)),
      done: (numbers, count) => desk.done(floats(numbers, count)),
      failed: (start, length) => desk.failed(text(start, length)),
    },
    attach(exports, shared) {
      memory = shared ?? exports.memory;
      compute = exports.compute_order;
    },
    /** Answers an order; the functions are called before it returns. */
    compute(order, picture, weight, planned, before, stage, done, failed) {
      desk = { order, picture, weight, planned, before, stage, done, failed };
      compute(threads, order.length);
    },
    memory: () => memory.buffer.byteLength,
  };
}
