// Starts the worker's module, which is next to this file, wherever that is.
import init from "./engine.js";

// Rethrown in a place where the page is notified.
init().catch((error) => setTimeout(() => { throw error; }));
