// Starts the page's program. It lies beside this file, wherever that is.
import init from "./launch.js";

// The page as it came is painted first; one in the background is not painted and does not wait for that.
await new Promise((go) => { requestAnimationFrame(() => setTimeout(go)); setTimeout(go, 200); });
init();
