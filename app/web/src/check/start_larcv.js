// The worker that takes an event out of larcv's HDF5 files: asked once, with a file and the event's number.

import init, { event } from "./larcv.js";

self.onmessage = async ({ data: [file, number] }) => {
  try {
    await init();
    const bytes = event(new Uint8Array(await file.arrayBuffer()), BigInt(number));
    self.postMessage(bytes, [bytes.buffer]);
  } catch (error) {
    self.postMessage(error.message ?? String(error));
  }
};
