// Added by `portolan site serve --watch`: reloads the page when the site is another, and says what keeps it from being built.
navigator.serviceWorker?.getRegistrations().then((kept) => kept.forEach((one) => one.unregister()));
let shown;
const events = new EventSource("/.portolan/events");
events.addEventListener("version", ({ data }) => {
  shown ??= data;
  if (data !== shown) location.reload();
});
events.addEventListener("faults", ({ data }) => {
  document.getElementById("build-faults")?.remove();
  if (!data) return;
  const box = document.createElement("pre");
  box.id = "build-faults";
  box.setAttribute("role", "alert");
  box.textContent = data;
  document.body.prepend(box);
});
