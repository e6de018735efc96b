// One thread of `bin/threaded_forward.rs`. The first hears the page's questions and says the answers, as `wire.rs` does
// where there is one thread; a helper runs what the program starts as threads.

import { put, take } from "./queue.js";
import { wasi } from "./wasi.js";

// Kinds of a message's parts, in the order of a message on the wire.
const HEAD = 0;
const FLOATS = 1;
const BYTES = 2;

self.onmessage = ({ data: { module, memory, queue, helper } }) => {
  const { exports } = new WebAssembly.Instance(module, {
    env: { memory },
    page: { say: (parts, count) => say(memory, parts >>> 0, count) },
    wasi: { "thread-spawn": (argument) => put(queue, argument) },
    wasi_snapshot_preview1: wasi(memory),
  });
  if (helper) {
    postMessage("ready");
    for (;;) exports.wasi_thread_start(...take(queue));
  }
  exports._start();
  self.onmessage = ({ data: { threads } }) => {
    self.onmessage = ({ data }) => answer(exports, memory, data);
    exports.begin(threads);
  };
  postMessage("ready");
};

/** A question: its head, and the files beside it. */
function answer(exports, memory, [head, files]) {
  const hand = (bytes, name) => {
    const start = exports.parcel(bytes.length) >>> 0;
    if (start === 0) throw new Error(`there is no memory for ${name}`);
    new Uint8Array(memory.buffer, start, bytes.length).set(bytes);
  };
  hand(head, "the question");
  for (const file of files) {
    let bytes;
    try {
      bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(file));
    } catch {
      hand(new TextEncoder().encode(file.name), "its name");
      exports.unreadable();
      continue;
    }
    hand(bytes, file.name);
  }
  exports.answer();
}

/** Sends what lies in memory as parts: the kind, the first byte and the number of bytes of each. */
function say(memory, parts, count) {
  const numbers = new Uint32Array(memory.buffer, parts, 3 * count);
  const message = [null, [], []];
  for (let at = 0; at < numbers.length; at += 3) {
    const [kind, start, length] = numbers.subarray(at, at + 3);
    // A copy out of shared memory, which can't be handed over.
    const bytes = new Uint8Array(memory.buffer, start, length).slice();
    if (kind === HEAD) message[HEAD] = bytes;
    if (kind === FLOATS) message[FLOATS].push(new Float32Array(bytes.buffer));
    if (kind === BYTES) message[BYTES].push(bytes);
  }
  postMessage(message, [...message[FLOATS], ...message[BYTES]].map((numbers) => numbers.buffer));
}
