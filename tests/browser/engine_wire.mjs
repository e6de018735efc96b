// The engine's worker without the page: ports projects, and returns the SHA-256 of all results of each port. The
// messages to the worker are defined in `app/web/src/port/protocol.rs`, and written here as bytes (postcard's: a number
// for the request, then its fields): a request that the engine does not understand gets no answer.

/**
 * Ports every project in every way; returns `{project: {way: {report, patch, texts}}}`, each a SHA-256 in hex. A project is
 * `{name, files: [{path, text}]}`, a way `{name, target, style}`. `worker` is anything that answers messages like the engine's
 * worker and has reported that it is ready. The function uses nothing from outside its own text, so that a test can send it to
 * any browser as text and call it there.
 */
export async function portAll(worker, projects, ways) {
  const number = (value) => {
    const out = [];
    for (; value > 127; value >>>= 7) out.push((value & 127) | 128);
    return [...out, value];
  };
  const text = (value) => {
    const bytes = new TextEncoder().encode(value);
    return [...number(bytes.length), ...bytes];
  };
  const styles = ["auto", "in-place", "branch", "agnostic"];
  const asks = {
    // None is a notebook.
    files: (paths) => [1, ...number(paths.length), ...paths.flatMap((path) => [...text(path), 0])],
    // Target, style, the newest SDK, nothing unsafe, no options, no comments, nothing disabled; the first file is shown.
    port: ({ target, style }) => [3, ...text(target), styles.indexOf(style), 0, 0, 0, 0, 0, 0, 0],
    patch: () => [9],
    report: () => [10],
    texts: () => [11],
  };
  const ask = (bytes, texts = []) =>
    new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error("the engine does not answer: does protocol.rs say what is asked here?")), 60_000);
      worker.onmessage = ({ data }) => {
        clearTimeout(late);
        done(data[1]);
      };
      worker.postMessage([Uint8Array.from(bytes), texts, []]);
    });
  const sum = async (parts) => {
    const bytes = new TextEncoder().encode(parts.join("\0"));
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const sums = {};
  for (const { name, files } of projects) {
    sums[name] = {};
    await ask(asks.files(files.map(({ path }) => path)), files.map(({ text }) => text));
    for (const way of ways) {
      await ask(asks.port(way));
      const [report, patch, texts] = [await ask(asks.report()), await ask(asks.patch()), await ask(asks.texts())];
      sums[name][way.name] = { report: await sum(report), patch: await sum(patch), texts: await sum(texts) };
    }
  }
  return sums;
}
