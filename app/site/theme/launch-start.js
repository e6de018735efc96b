// Starts the page's program, which is next to this file, wherever that is.
import init from "./launch.js";

await window.portolanPainted;
init();
