// The only script of a guide page: keeps the reader's choice of light or dark. Without it the system's choice holds.
(() => {
  const root = document.documentElement;
  const modes = ["auto", "light", "dark"];
  let mode = "auto";
  try {
    mode = localStorage.getItem("theme") || mode;
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
  }
  const show = () => {
    if (mode === "light" || mode === "dark") root.dataset.theme = mode;
    else delete root.dataset.theme;
    const button = document.getElementById("theme");
    if (button) {
      button.hidden = false;
      button.textContent = "Theme: " + (root.dataset.theme || "auto");
    }
  };
  show();
  addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme")?.addEventListener("click", () => {
      mode = modes[(modes.indexOf(root.dataset.theme || "auto") + 1) % modes.length];
      try {
        localStorage.setItem("theme", mode);
      } catch {
        // As above.
      }
      show();
    });
  });
})();
