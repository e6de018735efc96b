//! The page that writes launch scripts, as it is before its program has arrived: what it does, its places, and the way
//! to the same script without JavaScript.

use crate::shell::{Frame, shell};
use crate::theme;

/// The page at `launch/`. The program `launch.js` in the site's root fills it in.
pub(crate) fn write() -> String {
    let names = theme::names();
    let head = format!(
        "<link rel=\"stylesheet\" href=\"../{}\">\n<link rel=\"modulepreload\" href=\"../launch.js\">\n\
         <script type=\"module\" src=\"../{}\"></script>\n",
        names.launch_style, names.launch_start
    );
    shell(&Frame {
        path: "launch/",
        title: "Launch scripts",
        description: "Write the script that starts a ported training on HPU, RDU, IPU or PopDist, by hand, under Slurm or PBS.",
        head: &head,
        main: MAIN,
        ..Frame::default()
    })
}

const MAIN: &str = r#"<div class="launch" id="launch">
<div class="launch-head">
<h1>Launch scripts</h1>
<p>Say what you run and where; the script that starts it stands beside the form as you write. Every setting has its reason and its source. Nothing leaves the page.</p>
</div>
<noscript><p>The form needs JavaScript and WebAssembly. The command writes the same scripts: <code>portolan launch --target hpu --entry train.py</code>.</p></noscript>
<form class="launch-form" id="launch-form" aria-label="What to launch"><p class="help">The form is being loaded…</p></form>
<section class="launch-script" aria-labelledby="script-name">
<div class="launch-bar">
<h2 id="script-name">Script</h2>
<p class="take">
<button class="button quiet small" id="copy-script" type="button" data-do="copy" disabled>Copy</button>
<button class="button quiet small" type="button" data-do="link">Copy link</button>
<button class="button quiet small" type="button" data-do="all">All scripts (.zip)</button>
<button class="button small" id="download" type="button" data-do="download" disabled>Download</button>
</p>
</div>
<p class="said" id="script-said" role="status"></p>
<div id="missing"></div>
<pre id="script" tabindex="0" aria-labelledby="script-name" hidden></pre>
<details class="launch-command"><summary>The same by the command</summary>
<p><code id="launch-command">portolan launch --target hpu</code></p>
<p><button class="button quiet small" type="button" data-do="command">Copy the command</button></p>
</details>
<div class="launch-about" id="about"></div>
</section>
<section class="launch-check" aria-labelledby="check-name">
<h2 id="check-name">Check a script of your own</h2>
<p>Paste one, and it is held against the faults that published scripts are known to have.</p>
<div class="field"><label for="check-target">For</label>
<select id="check-target"><option value="hpu">HPU</option><option value="rdu">RDU</option><option value="ipu">IPU</option><option value="popdist">PopDist</option></select></div>
<label for="check-text">Your script</label>
<textarea id="check-text" rows="10" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea>
<p class="said" id="check-undo" role="status"></p>
<div id="check-found" aria-live="polite"></div>
</section>
</div>
"#;
