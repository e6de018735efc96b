//! The page that checks a port, in the site's frame. Its text is available without JavaScript, the form is not.

use crate::shell::{Frame, shell};
use crate::theme;

/// The page at `check/`. The program `check.js` in the site's root fills in its form.
pub(crate) fn write(targets: &[&str]) -> String {
    let names = theme::names();
    let head = format!(
        "<link rel=\"stylesheet\" href=\"../{}\">\n<link rel=\"modulepreload\" href=\"../check.js\">\n\
         <script type=\"module\" src=\"../{}\"></script>\n",
        names.check_style, names.check_start
    );
    shell(&Frame {
        path: "check/",
        title: "Check a port",
        description: "Run CosmicTagger’s network on your CPU, in the page, and compare a port’s outputs with it.",
        head: &head,
        main: &MAIN.replace("{target}", targets.first().unwrap_or(&"TARGET")),
        ..Frame::default()
    })
}

/// `{target}` is one of the port's targets.
const MAIN: &str = r#"<div class="wrap band check">
<h1>Check a port</h1>
<p class="lead">For CosmicTagger’s 2D UResNet: run the network here, on your CPU, and compare your port’s outputs with it.
Your weights and events are read in this page; nothing is sent anywhere.</p>
<p>Other networks have no reference here; test them with the twin run kit (on <a href="../port/">the Port page</a> and in each
guide), which runs a ported script on a laptop against stand-ins for the vendor’s modules.</p>
<div id="check">
<noscript><p>The form needs JavaScript and WebAssembly. The command below does the same.</p></noscript>
</div>
<section class="prose">
<h2>How to check a port</h2>
<ol>
<li>Choose the network’s configuration, its weights and an event. Random weights and a synthetic event are enough:
an incorrect port differs on any of them.</li>
<li>Run it, and download the reference (input, weights and logits in one safetensors file) and
<code>check_port.py</code>.</li>
<li>Run that script next to the ported project. It builds the project’s own network, loads the reference’s weights, runs its
input on the accelerator, and writes <code>candidate.safetensors</code>.</li>
<li>Choose that file here, and the precision that the accelerator used: float32, bfloat16 and float16 have different
tolerances.</li>
</ol>
<p>With <code>--stages</code> the script also writes module outputs, and the report names the first module outside
tolerance. You can also write the file yourself: <code>output.plane0</code> to <code>output.plane2</code> and, optionally,
<code>stage.PATH.plane0</code> to <code>plane2</code> (or <code>stage.PATH.all</code> where the planes are joined), where
<code>PATH</code> is the module’s name in <code>named_modules()</code>.</p>
<h2>On the command line</h2>
<pre tabindex="0">portolan forward --config small --weights sample --event 0 --size 320x512 \
  --out reference.safetensors --bundle --script check_port.py
python3 check_port.py reference.safetensors --project path/to/port --device {target} --precision bf16 --stages
portolan forward --config small --weights sample --event 0 --size 320x512 \
  --compare candidate.safetensors --precision bf16 --format json</pre>
<p>These are the page’s default settings. <code>--config</code> names the network, <code>--weights FILE</code> and <code>--input FILE</code> accept the same files as the page, <code>--stages</code> writes every
module’s output into the reference, and the exit status says whether the outputs agree.</p>
<h2>When two runs agree</h2>
<p>Summing in a different order rounds differently, so bit-identical outputs are not expected. Each precision has a limit for
the max difference divided by the largest logit, and nearly all pixels must keep their class. The report shows both limits
next to the measured values.</p>
</section>
</div>
"#;

#[cfg(test)]
mod tests {
    #[test]
    fn it_reads_without_a_script() {
        let page = super::write(&["abacus"]);
        assert!(
            page.contains("portolan forward --config small --weights sample") && page.contains("<noscript>"),
            "{page}"
        );
        assert!(page.contains("--device abacus"), "{page}");
        assert!(page.contains("<a href=\"../check/\" aria-current=\"page\">Check a port</a>"), "{page}");
    }
}
