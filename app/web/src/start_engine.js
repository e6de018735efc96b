// The worker's first lines. Its module lies beside this file, wherever that is.
import init from "./engine.js";

init();
