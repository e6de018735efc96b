// The parts of WASI that Rust's standard library needs in a program that only computes: a clock, random seeds for its
// hash tables, and an output for panic messages.

const SUCCESS = 0;

/** The imports of a program with this memory. */
export function wasi(memory) {
  const view = () => new DataView(memory.buffer);
  const decoder = new TextDecoder();
  return {
    environ_sizes_get(count, size) {
      view().setUint32(count >>> 0, 0, true);
      view().setUint32(size >>> 0, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    clock_time_get(_clock, _precision, to) {
      const nanoseconds = (performance.timeOrigin + performance.now()) * 1e6;
      view().setBigUint64(to >>> 0, BigInt(Math.round(nanoseconds)), true);
      return SUCCESS;
    },
    random_get(to, length) {
      // Random bytes can't be written directly to shared memory.
      new Uint8Array(memory.buffer, to >>> 0, length).set(crypto.getRandomValues(new Uint8Array(length)));
      return SUCCESS;
    },
    fd_write(_descriptor, list, count, written) {
      let sum = 0;
      for (let at = list >>> 0; count > 0; at += 8, count -= 1) {
        const [from, length] = [view().getUint32(at, true), view().getUint32(at + 4, true)];
        console.error(decoder.decode(new Uint8Array(memory.buffer, from, length).slice()));
        sum += length;
      }
      view().setUint32(written >>> 0, sum, true);
      return SUCCESS;
    },
    sched_yield: () => SUCCESS,
    proc_exit(status) {
      throw new Error(`the program ended with status ${status}`);
    },
  };
}
