// Starts the page's program, which is next to this file, wherever that is.
import init from "./check.js";

await window.portolanPainted;
init();
