// The worker that reads an event from larcv's HDF5 files: it gets one request, with a file and the event's number.

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
