// Starts the module of the worker that checks scripts. It is next to this file, wherever that is.
import init from "./own_script.js";

// Rethrown in a place where the page is notified.
init().catch((error) => setTimeout(() => { throw error; }));
