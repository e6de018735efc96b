// Runs the program of `examples/forward.rs`, alone or as one of its threads.

import { ARGUMENT, BOX, Exit, FREE, FULL, NUMBER, STATE, TAKEN, wasi } from "./wasi.mjs";

self.onmessage = ({ data: { module, memory, words, boxes, helper } }) => {
  let text = "";
  let instance;
  let threads = 0;
  const current = () => memory ?? instance.exports.memory;
  const imports = {
    wasi_snapshot_preview1: wasi(current, words, (_, more) => (text += more)),
    wasi: {
      "thread-spawn"(argument) {
        const box = new Int32Array(boxes);
        // No waiting here: the C library holds a lock by now that an ending thread needs.
        for (let at = 0; at < box.length; at += BOX) {
          if (Atomics.compareExchange(box, at + STATE, FREE, TAKEN) === FREE) {
            box[at + NUMBER] = ++threads;
            box[at + ARGUMENT] = argument;
            Atomics.store(box, at + STATE, FULL);
            Atomics.notify(box, at + STATE);
            return threads;
          }
        }
        return -1;
      },
    },
    env: { memory },
  };
  instance = new WebAssembly.Instance(module, imports);
  if (helper !== undefined) {
    const box = new Int32Array(boxes, helper * BOX * 4, BOX);
    self.postMessage({ ready: true });
    for (;;) {
      for (let state; (state = Atomics.load(box, STATE)) !== FULL; ) Atomics.wait(box, STATE, state);
      instance.exports.wasi_thread_start(box[NUMBER], box[ARGUMENT]);
      Atomics.store(box, STATE, FREE);
    }
  }
  let failure;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit && error.status === 0)) failure = `${error}`;
  }
  self.postMessage({ text, failure, bytes: current().buffer.byteLength });
};
