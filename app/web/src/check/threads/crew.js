// Runs the network on several threads: starts a worker for each, and forwards the page's messages to the first one,
// which runs the desk. The others are idle or busy with the network, and so is the first while it answers; this one is
// always available to handle errors.

import { load } from "../forward.js";
import { newQueue } from "./queue.js";

const PAGE = 65536;

// The limits with which `modules.rs` of xtask builds the module. Some machines can't reserve the whole address space of
// wasm32.
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
  // The threads wait for one another, so if one fails, all of them have to end. Rethrown here, the error reaches the
  // page.
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
