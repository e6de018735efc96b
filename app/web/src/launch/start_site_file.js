// Starts the module of the worker that reads site files. It is next to this file, wherever that is.
import init from "./site_file.js";

// Rethrown in a place where the page is notified.
init().catch((error) => setTimeout(() => { throw error; }));
