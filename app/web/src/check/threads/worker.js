// One thread of a module with threads. The first one runs the desk, which answers the page's requests; the others run
// the threads that the program starts.

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

// Rethrown in a place where the crew is notified.
self.onmessage = ({ data }) => start(data).catch((error) => setTimeout(() => { throw error; }));
