// The first lines of the worker that checks scripts. Its module lies beside this file, wherever that is.
import init from "./own_script.js";

// Thrown where the page hears it.
init().catch((error) => setTimeout(() => { throw error; }));
