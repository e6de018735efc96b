// Starts the worker's module, which is next to this file, wherever that is.
import init from "./engine.js";

// The reader of a user's own guides is fetched with the first one. A browser may remember that a file could not be
// loaded, so another attempt has another address.
let attempts = 0;
globalThis.portolanLoadGuideReader = async () => {
  const attempt = attempts++;
  const { default: start } = await import(attempt ? `./guide_file.js?${attempt}` : "./guide_file.js");
  return start();
};

// Rethrown in a place where the page is notified.
init().catch((error) => setTimeout(() => { throw error; }));
