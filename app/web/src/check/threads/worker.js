// One thread of a module with threads. The first has the desk, which hears the page's questions and says the answers; a
// helper runs what the program starts as threads.

import { newProgram } from "../forward.js";
import { put, take } from "./queue.js";
import { wasi } from "./wasi.js";

const start = async ({ module, memory, queue, helper, threads }) => {
  const program = newProgram(threads);
  const { exports } = new WebAssembly.Instance(module, {
    env: { memory },
    desk: program.imports,
    wasi: { "thread-spawn": (argument) => put(queue, argument) },
    wasi_snapshot_preview1: wasi(memory),
  });
  if (helper) {
    postMessage("ready");
    for (;;) exports.wasi_thread_start(...take(queue));
  }
  exports._start();
  program.attach(exports, memory);
  const { default: init, serve } = await import("../desk.js");
  await init();
  self.onmessage = () => serve(program);
  postMessage("ready");
};

// Thrown where the crew hears it.
self.onmessage = ({ data }) => start(data).catch((error) => setTimeout(() => { throw error; }));
