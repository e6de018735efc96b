// The worker's first lines. Its module lies beside this file, wherever that is.
import init from "./forward.js";

// Thrown where the page hears it.
init().catch((error) => setTimeout(() => { throw error; }));
