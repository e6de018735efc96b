// What the page of the comparison can do; `run.mjs` calls it.

import { BOX } from "./wasi.mjs";

const PAGE = 65536;

/** Our own program with these arguments, and as many threads as it is asked for. */
window.ours = async (url, words, threads) => {
  const module = await WebAssembly.compileStreaming(fetch(url));
  const wanted = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
  const memory = wanted ? new WebAssembly.Memory({ initial: 64, maximum: 4 * 2 ** 30 / PAGE, shared: true }) : undefined;
  // A thread that the program has joined may not be back at its mailbox when the next one starts, hence the spare ones.
  const count = wanted ? 4 * (threads - 1) : 0;
  const boxes = wanted ? new SharedArrayBuffer(BOX * 4 * count) : undefined;
  const start = (message) =>
    new Promise((resolve, reject) => {
      const worker = new Worker("ours.worker.mjs", { type: "module" });
      worker.onmessage = ({ data }) => resolve({ worker, data });
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ module, memory, boxes, words: ["forward", ...words], ...message });
    });
  const helpers = Array.from({ length: count }, (_, helper) => start({ helper }));
  await Promise.all(helpers);
  const { data, worker } = await start({});
  for (const other of await Promise.all(helpers)) other.worker.terminate();
  worker.terminate();
  if (data.failure) throw new Error(`${data.failure}\n${data.text}`);
  return { ...JSON.parse(data.text), memory: data.bytes };
};

/** onnxruntime-web on a model, its input and our output. */
window.peer = async (folder, shape, threads, runs) => {
  let bytes = 0;
  const memories = [];
  const { Memory } = WebAssembly;
  WebAssembly.Memory = function (...words) {
    const memory = new Memory(...words);
    memories.push(memory);
    return memory;
  };
  const ort = await import("./node_modules/onnxruntime-web/dist/ort.wasm.min.mjs");
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = new URL("./node_modules/onnxruntime-web/dist/", location.href).href;
  const numbers = async (name) => new Float32Array(await (await fetch(`${folder}/${name}`)).arrayBuffer());
  const [input, expected] = [await numbers("input.f32"), await numbers("expected.f32")];
  const session = await ort.InferenceSession.create(`${folder}/model.onnx`, { executionProviders: ["wasm"] });
  let seconds = Infinity;
  let far = 0;
  for (let run = 0; run <= runs; run++) {
    const start = performance.now();
    const { y } = await session.run({ x: new ort.Tensor("float32", input, shape) });
    // The first run sets up memory.
    if (run > 0) seconds = Math.min(seconds, (performance.now() - start) / 1e3);
    if (run === 0) far = distance(expected, y.data);
  }
  for (const memory of memories) bytes += memory.buffer.byteLength;
  return { seconds, threads, memory: bytes, far, isolated: crossOriginIsolated, version: ort.env.versions.web };
};

/** The largest difference as a share of the range. */
function distance(expected, found) {
  let [low, high, most] = [Infinity, -Infinity, 0];
  for (let i = 0; i < expected.length; i++) {
    low = Math.min(low, expected[i]);
    high = Math.max(high, expected[i]);
    most = Math.max(most, Math.abs(expected[i] - found[i]));
  }
  return expected.length === found.length ? most / (high - low) : Infinity;
}

window.ready = true;
