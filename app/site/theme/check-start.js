// Starts the page's program. It lies beside this file, wherever that is.
import init from "./check.js";

await window.portolanPainted;
init();
