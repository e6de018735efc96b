// The network on several threads: a worker for each, and the messages of the page passed on to the first, which has the
// desk. The others are asleep or deep in the network, and so is the first while it answers; this one is always there to
// hear of trouble.

import { load } from "../forward.js";
import { newQueue } from "./queue.js";

const PAGE = 65536;

// What the module is built with: `modules.rs` of xtask. Some machines can't set aside all that wasm32 can address.
const INITIAL = 4 * 2 ** 20;
const MOST = [4, 2, 1].map((gibibytes) => gibibytes * 2 ** 30);

/** Starts the module of this name, which lies beside this file, on so many threads. */
export async function start(file, threads) {
  const module = await load(new URL(file, import.meta.url));
  const memory = newMemory();
  const queue = newQueue();
  const crew = [];
  const join = (helper) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
      crew.push(worker);
      worker.onmessage = resolve;
      worker.onerror = (event) => reject(new Error(event.message || "a worker could not be loaded"));
      worker.postMessage({ module, memory, queue, helper, threads });
    });
  try {
    await Promise.all(Array.from({ length: threads }, (_, number) => join(number > 0)));
  } catch (error) {
    for (const worker of crew) worker.terminate();
    throw error;
  }
  // The threads wait for one another, so when one ends all have. Thrown again here, it reaches the page.
  for (const worker of crew) {
    worker.onerror = (event) => {
      event.preventDefault();
      throw new Error(event.message);
    };
  }
  const [first] = crew;
  first.onmessage = ({ data }) => postMessage(data, buffers(data));
  self.onmessage = ({ data }) => first.postMessage(data);
  first.postMessage("serve");
}

function newMemory() {
  for (const [place, most] of MOST.entries()) {
    try {
      return new WebAssembly.Memory({ initial: INITIAL / PAGE, maximum: most / PAGE, shared: true });
    } catch (error) {
      if (place === MOST.length - 1) throw error;
    }
  }
}

/** What of an answer changes hands: its numbers, as in `wire.rs`. */
const buffers = ([, floats, bytes]) => [...floats, ...bytes].map((numbers) => numbers.buffer);
