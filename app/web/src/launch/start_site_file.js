// The first lines of the worker that reads site files. Its module lies beside this file, wherever that is.
import init from "./site_file.js";

// Thrown where the page hears it.
init().catch((error) => setTimeout(() => { throw error; }));
