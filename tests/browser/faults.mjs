// Faults of a site, for test servers (`fault` of site.mjs).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "./crc32.mjs";
import { dist } from "./site.mjs";

/** How often each path was requested, and the faults of those that are named. */
export function faulty(faults) {
  const asked = new Map();
  const fault = (path) => {
    asked.set(path, (asked.get(path) ?? 0) + 1);
    return faults[path]?.(asked.get(path));
  };
  return { asked: (path) => asked.get(path) ?? 0, fault, options: { fault } };
}

/** An engine that crashes at the first requested port; the next one does not. */
export function crashes() {
  // The page requests the catalogue first, then sends the files.
  const crashing = `
    import init from "./engine.js";
    let heard = 0;
    addEventListener("message", () => {
      heard += 1;
      if (heard === 2) setTimeout(() => { throw new Error("provoked"); });
    });
    init();
  `;
  const { asked, fault } = faulty({ "start_engine.js": (time) => (time === 1 ? crashing : undefined) });
  return { asked: () => asked("start_engine.js"), fault };
}

/** An engine that starts, then never answers, and keeps its thread busy; the next one does not. */
export function hangs() {
  const hanging = `
    import init from "./engine.js";
    let heard = 0;
    addEventListener("message", () => {
      heard += 1;
      while (heard === 2);
    });
    init();
  `;
  return faulty({ "start_engine.js": (time) => (time === 1 ? hanging : undefined) });
}

/** A WebAssembly module whose memory is limited to this many pages of 64 KiB. */
export function withMemory(module, pages) {
  const number = (at) => {
    let value = 0;
    for (let weight = 1; ; weight *= 128, at++) {
      value += (module[at] & 127) * weight;
      if (module[at] < 128) return { value, next: at + 1 };
    }
  };
  const bytes = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...bytes(value >> 7)]);
  for (let at = 8; at < module.length; ) {
    const { value: size, next: body } = number(at + 1);
    if (module[at] === 5) {
      // A memory with a limit: its initial size, and the limit.
      const memory = [1, 1, ...bytes(number(body + 2).value), ...bytes(pages)];
      return Buffer.concat([module.subarray(0, at), Buffer.from([5, ...bytes(memory.length), ...memory]), module.subarray(body + size)]);
    }
    at = body + size;
  }
  throw new Error("the module has no memory of its own");
}

const worker = readFileSync(join(dist, "sw.js"), "utf8");

/** A service worker that works until a page posts `lose` to it, and from then on can't open its cache. */
export function losing(path) {
  const lost = `
    const open = CacheStorage.prototype.open;
    CacheStorage.prototype.open = function (name) {
      return self.isLost ? Promise.reject(new Error("provoked")) : open.call(this, name);
    };
    addEventListener("message", ({ data }) => { if (data === "lose") self.isLost = true; });
  `;
  return path === "sw.js" ? lost + worker : undefined;
}

/** An archive with exactly these entries: `{path, data, method, crc, size, mode}`, already compressed. */
export function archiveOf(entries) {
  const [bodies, list] = [[], []];
  let at = 0;
  for (const { path, data, method = 0, crc = crc32(data), size = data.length, mode = 0o100644 } of entries) {
    const name = Buffer.from(path);
    const about = Buffer.alloc(26);
    [20, 0x800, method, 0, 0x21].forEach((value, index) => about.writeUInt16LE(value, 2 * index));
    [crc, data.length, size].forEach((value, index) => about.writeUInt32LE(value, 10 + 4 * index));
    about.writeUInt16LE(name.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(mode * 65536, 6);
    rest.writeUInt32LE(at, 10);
    bodies.push(Buffer.from("PK\x03\x04"), about, name, data);
    // Created on a Unix, which has links.
    list.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), about, rest, name);
    at += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(Buffer.concat(list).length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...bodies, ...list, Buffer.from("PK\x05\x06"), end]);
}
