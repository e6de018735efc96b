// Threads that the program has requested and no worker has taken yet, in shared memory: one worker adds them, all
// others remove them. Adding never waits: the C library holds a lock while it starts a thread, and a thread that ends
// needs that lock before its worker can take the next.

// Two counters that only increase, followed by a ring buffer of pairs of a thread's number and its argument. There are
// never more requests than workers, and no machine has as many as the ring has entries.
const PUT = 0;
const TAKEN = 1;
const RING = 2;
const PLACES = 1024;

export const newQueue = () => new SharedArrayBuffer(4 * (RING + 2 * PLACES));

/** Puts in a thread with this argument; gives its number. */
export function put(queue, argument) {
  const numbers = new Int32Array(queue);
  const count = Atomics.load(numbers, PUT);
  const place = RING + 2 * (count % PLACES);
  numbers[place] = count + 1;
  numbers[place + 1] = argument;
  Atomics.store(numbers, PUT, count + 1);
  Atomics.notify(numbers, PUT);
  return count + 1;
}

/** Waits for a thread that is this worker's alone: its number and argument. */
export function take(queue) {
  const numbers = new Int32Array(queue);
  for (;;) {
    const count = Atomics.load(numbers, TAKEN);
    if (count === Atomics.load(numbers, PUT)) {
      Atomics.wait(numbers, PUT, count);
      continue;
    }
    const place = RING + 2 * (count % PLACES);
    const thread = [numbers[place], numbers[place + 1]];
    if (Atomics.compareExchange(numbers, TAKEN, count, count + 1) === count) return thread;
  }
}
