// As much of WASI as a program needs that reads its arguments and a clock, and writes text.

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;

// A mailbox for each helper, in shared memory: its state, and the number and argument of the thread to run.
export const STATE = 0;
export const NUMBER = 1;
export const ARGUMENT = 2;
export const BOX = 3;

// States: no thread, one being written down, one to run or running.
export const FREE = 0;
export const TAKEN = 1;
export const FULL = 2;

/** Ends the program from within; what `proc_exit` throws. */
export class Exit extends Error {
  constructor(status) {
    super(`exit status ${status}`);
    this.status = status;
  }
}

/** The imports of a program: its arguments (the first is its name), and who gets the text it writes. */
export function wasi(memory, words, write) {
  const encoder = new TextEncoder();
  const strings = words.map((word) => encoder.encode(`${word}\0`));
  const view = () => new DataView(memory().buffer);
  const decoder = new TextDecoder();
  const known = {
    args_sizes_get(count, size) {
      view().setUint32(count, strings.length, true);
      view().setUint32(size, strings.reduce((sum, string) => sum + string.length, 0), true);
      return SUCCESS;
    },
    args_get(pointers, to) {
      for (const string of strings) {
        view().setUint32(pointers, to, true);
        new Uint8Array(memory().buffer).set(string, to);
        pointers += 4;
        to += string.length;
      }
      return SUCCESS;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    clock_time_get(_clock, _precision, to) {
      const nanoseconds = (performance.timeOrigin + performance.now()) * 1e6;
      view().setBigUint64(to, BigInt(Math.round(nanoseconds)), true);
      return SUCCESS;
    },
    random_get(to, length) {
      // Seeds of hash maps, nothing more.
      const bytes = new Uint8Array(length).map(() => Math.random() * 256);
      new Uint8Array(memory().buffer).set(bytes, to);
      return SUCCESS;
    },
    fd_write(descriptor, list, count, written) {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const from = view().getUint32(list + 8 * i, true);
        const length = view().getUint32(list + 8 * i + 4, true);
        // A copy: text can't be decoded out of shared memory.
        write(descriptor, decoder.decode(new Uint8Array(memory().buffer).slice(from, from + length), { stream: true }));
        sum += length;
      }
      view().setUint32(written, sum, true);
      return SUCCESS;
    },
    fd_prestat_get: () => BAD_DESCRIPTOR,
    sched_yield: () => SUCCESS,
    proc_exit(status) {
      throw new Exit(status);
    },
  };
  return new Proxy(known, { get: (all, name) => all[name] ?? (() => NOT_SUPPORTED) });
}
