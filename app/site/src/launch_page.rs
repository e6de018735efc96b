//! The page that writes launch scripts, before its program is loaded: its purpose, its layout, and how to get the same
//! script without JavaScript.

use crate::shell::{Frame, shell};
use crate::theme;

/// The page at `launch/`. The program `launch.js` in the site's root fills it in.
pub(crate) fn write(targets: &[&str]) -> String {
    let names = theme::names();
    let head = format!(
        "<link rel=\"stylesheet\" href=\"../{}\">\n<link rel=\"modulepreload\" href=\"../launch.js\">\n\
         <script type=\"module\" src=\"../{}\"></script>\n",
        names.launch_style, names.launch_start
    );
    shell(&Frame {
        path: "launch/",
        title: "Launch scripts",
        description: "Write the script that starts a ported training on its accelerator, by hand, under Slurm or PBS.",
        head: &head,
        main: &MAIN.replace("{target}", targets.first().unwrap_or(&"TARGET")),
        ..Frame::default()
    })
}

/// `{target}` is one of the port's targets.
const MAIN: &str = r#"<div class="launch" id="launch">
<div class="launch-head">
<h1>Launch scripts</h1>
<p>Describe your job; the launch script updates as you type. Every setting is explained and sourced. Nothing leaves this page.</p>
</div>
<noscript><p>The form needs JavaScript and WebAssembly. The command writes the same scripts: <code>portolan launch --target {target} --entry train.py</code>.</p></noscript>
<div class="launch-page" id="launch-page"><p class="help">Loading the form…</p></div>
</div>
"#;
