//! The form and the places where results go.

use super::escape;
use crate::check::choice::{Choice, FIELDS, Kind, PRESETS, kind};
use crate::check::picture::Layer;
use std::fmt::Write;

/// What some controls do, where the name does not say it.
fn hint(key: &str) -> &'static str {
    match key {
        "block_concat" => "true keeps the planes apart in the deepest block",
        "depth" => "times that the picture is halved",
        _ => "",
    }
}

/// Words of a list that are not a field's own values.
fn label_of(key: &str, word: &str) -> String {
    match (key, word) {
        ("weights", "sample") => "the sample: trained, small".to_string(),
        ("weights", "seeded") => "made from a seed".to_string(),
        ("weights" | "input", "file") => "a file of yours".to_string(),
        ("input", "synthetic") => "a synthetic event".to_string(),
        ("stages", "none") => "no modules' outputs".to_string(),
        ("stages", "coarse") => "modules' outputs, without single blocks".to_string(),
        ("stages", "all") => "every module's output".to_string(),
        _ => word.to_string(),
    }
}

fn field(out: &mut String, choice: &Choice, key: &str, label: &str) {
    let value = escape(&choice.get(key).unwrap_or_default());
    let hint = hint(key);
    let common = format!("id=\"f-{key}\" data-key=\"{key}\" aria-describedby=\"fault-{key}\"");
    let _ = match kind(key) {
        Kind::Switch => {
            write!(out, "<div class=\"field tick\"><label><input type=\"checkbox\" {common}> {label}</label>")
        }
        Kind::Number => write!(
            out,
            "<div class=\"field\"><label for=\"f-{key}\">{label}</label>\
             <input type=\"text\" inputmode=\"numeric\" autocomplete=\"off\" {common} value=\"{value}\">"
        ),
        Kind::Words(words) => {
            let _ = write!(out, "<div class=\"field\"><label for=\"f-{key}\">{label}</label><select {common}>");
            for word in words {
                let _ = write!(out, "<option value=\"{word}\">{}</option>", label_of(key, word));
            }
            write!(out, "</select>")
        }
    };
    if !hint.is_empty() {
        let _ = write!(out, "<p class=\"hint\">{hint}</p>");
    }
    let _ = write!(out, "<p class=\"fault\" id=\"fault-{key}\" role=\"alert\"></p></div>");
}

/// A place to drop or choose a file.
fn file(out: &mut String, name: &str, label: &str, accept: &str) {
    let _ = write!(
        out,
        "<div class=\"field drop\" id=\"drop-{name}\" data-drop=\"{name}\"><label for=\"file-{name}\">{label}</label>\
         <input type=\"file\" id=\"file-{name}\" data-file=\"{name}\" accept=\"{accept}\" \
         aria-describedby=\"fault-file-{name}\"><p class=\"hint\" id=\"name-{name}\"></p>\
         <p class=\"fault\" id=\"fault-file-{name}\" role=\"alert\"></p></div>"
    );
}

/// The whole form.
pub fn html(choice: &Choice) -> String {
    let mut out = String::from(
        "<div class=\"check-form\"><p class=\"notice\" id=\"notice\" role=\"status\"></p>\
         <fieldset><legend>Network</legend><div class=\"field\"><label for=\"f-preset\">Configuration</label>\
         <select id=\"f-preset\" data-key=\"preset\" aria-describedby=\"parameters\">",
    );
    for name in PRESETS {
        let _ = write!(out, "<option value=\"{name}\">{name}</option>");
    }
    out.push_str(
        "<option value=\"\" disabled>your own</option></select><p class=\"hint\" id=\"parameters\"></p>\
         <p class=\"fault\" id=\"fault-preset\" role=\"alert\"></p></div>\
         <details id=\"fields\"><summary>All fields</summary><div class=\"grid\">",
    );
    for key in FIELDS {
        field(&mut out, choice, key, &format!("<code>{key}</code>"));
    }
    out.push_str("</div></details></fieldset><fieldset data-drop=\"weights\"><legend>Weights</legend>");
    field(&mut out, choice, "weights", "Weights");
    out.push_str(
        "<p class=\"hint\" data-when=\"weights=sample\">Trained on synthetic events, so that cosmic rays and a neutrino are \
         told apart; it knows nothing of a real detector. 1 MB, fetched by Run. \
         <a href=\"sample.safetensors\" download>Download it</a></p><div data-when=\"weights=seeded\">",
    );
    field(&mut out, choice, "seed", "Seed");
    out.push_str("</div><div data-when=\"weights=file\">");
    file(&mut out, "weights", "Checkpoint: safetensors or <code>torch.save</code>", ".safetensors,.pt,.pth,.ckpt,.npz");
    out.push_str("</div></fieldset><fieldset data-drop=\"input\"><legend>Event</legend>");
    field(&mut out, choice, "input", "Event");
    out.push_str("<div data-when=\"input=file\">");
    file(
        &mut out,
        "input",
        "Picture, or its pixels: safetensors, npy, npz, larcv’s HDF5",
        ".safetensors,.npy,.npz,.h5,.hdf5",
    );
    out.push_str("</div><div class=\"grid\">");
    field(&mut out, choice, "event", "Number of the event");
    field(&mut out, choice, "downsample", "Downsample by");
    field(&mut out, choice, "height", "Height");
    field(&mut out, choice, "width", "Width");
    out.push_str(
        "</div><p class=\"hint\" id=\"fed\"></p><p data-when=\"input=file\"><button type=\"button\" \
         class=\"button quiet small\" data-do=\"size\" data-to=\"1280x2048\">Take 1280 × 2048</button></p></fieldset>\
         <fieldset><legend>This machine</legend><div class=\"field\"><label for=\"threads\">Threads</label>\
         <select id=\"threads\" aria-describedby=\"why-threads\"></select>\
         <p class=\"hint\" id=\"why-threads\"></p></div></fieldset>\
         <p class=\"actions\"><button type=\"button\" class=\"button\" id=\"run\" data-do=\"run\">Run</button>\
         <button type=\"button\" class=\"button quiet\" id=\"cancel\" data-do=\"cancel\" hidden>Cancel</button>\
         <button type=\"button\" class=\"button quiet\" id=\"link\" data-do=\"link\">Copy a link to this form</button></p>\
         <div id=\"going\" hidden><progress id=\"bar\" max=\"1\" value=\"0\" aria-label=\"Progress\"></progress>\
         <p class=\"hint\" id=\"step\"></p></div>\
         <p class=\"fault\" id=\"fault-run\" role=\"alert\"></p><p class=\"hint\" id=\"said\" role=\"status\"></p>\
         <details><summary>The same with the command</summary><pre id=\"command\" tabindex=\"0\"></pre>\
         <p><button type=\"button\" class=\"button quiet small\" id=\"config\" \
         data-do=\"config\">Download config.json</button></p>\
         </details></div>",
    );
    results(&mut out, choice);
    out
}

fn results(out: &mut String, choice: &Choice) {
    out.push_str(
        "<div class=\"check-results\"><p class=\"empty\" id=\"empty\">Press Run: the three planes, the statistics and the \
         time of each layer come here.</p><section id=\"results\" hidden><h2>Planes</h2><div class=\"bar\">\
         <div class=\"layers\" role=\"radiogroup\" aria-label=\"What to show\">",
    );
    for layer in Layer::ALL {
        let (word, checked) = (layer.word(), if layer == Layer::Input { " checked" } else { "" });
        let name = layer.name();
        let _ = write!(
            out,
            "<label><input type=\"radio\" name=\"layer\" value=\"{word}\" data-layer=\"{word}\"{checked}> {name}</label>"
        );
    }
    out.push_str(
        "</div><div class=\"zoom\" role=\"group\" aria-label=\"Zoom\">\
         <button type=\"button\" class=\"button quiet small\" data-do=\"in\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" class=\"button quiet small\" data-do=\"out\" aria-label=\"Zoom out\">−</button>\
         <button type=\"button\" class=\"button quiet small\" data-do=\"fit\">Whole plane</button></div></div>\
         <div id=\"legend\"></div><p class=\"hint\" id=\"keys\">Drag or pinch to move, Ctrl and wheel to zoom. With the \
         keyboard: arrows move the pixel that is read out (ten at a time with Shift), + and − zoom, 0 shows the whole \
         plane.</p><div class=\"planes\">",
    );
    for plane in 0..uresnet::PLANES {
        let _ = write!(
            out,
            "<figure><figcaption>Plane {plane}</figcaption><canvas id=\"plane-{plane}\" data-plane=\"{plane}\" \
             tabindex=\"0\" role=\"application\" aria-roledescription=\"picture\" aria-label=\"Plane {plane}\" \
             aria-describedby=\"keys value-{plane}\"></canvas>\
             <output id=\"value-{plane}\" aria-live=\"polite\"></output></figure>"
        );
    }
    out.push_str(
        "</div><h2>Statistics</h2><dl class=\"facts\" id=\"about\"></dl><div id=\"statistics\"></div>\
         <div class=\"layer-times\"><h2>Layers</h2><div id=\"layers\"></div></div>\
         <div class=\"take\"><h2>Take the reference away</h2><p>One safetensors file: the input, the logits of each plane, and \
         what you tick. <code>check_port.py</code> builds the ported project’s own network, loads the file’s weights, runs its \
         input on the accelerator, and writes <code>candidate.safetensors</code>.</p><div class=\"grid\"><div class=\"field tick\"><label><input type=\"checkbox\" id=\"with-weights\" checked> \
         with the weights, under PyTorch’s names</label></div>",
    );
    field(out, choice, "stages", "With");
    out.push_str(
        "</div><p class=\"actions\"><button type=\"button\" class=\"button quiet\" id=\"bundle\" data-do=\"bundle\">Download \
         the reference</button> <button type=\"button\" class=\"button quiet\" id=\"script\" data-do=\"script\">Download \
         check_port.py</button></p><pre id=\"port-command\" tabindex=\"0\"></pre></div>\
         <div class=\"compare\"><h2>Compare another run</h2><p class=\"take\">What <code>check_port.py</code> wrote, or any file with \
         <code>output.plane0</code> to <code>output.plane2</code>, and <code>stage.PATH.plane0</code> where you have \
         them.</p><div class=\"grid\" data-drop=\"candidate\">",
    );
    file(out, "candidate", "Outputs: safetensors or npz", ".safetensors,.npz,.pt");
    field(out, choice, "precision", "It computes in");
    out.push_str(
        "</div><div id=\"comparison\"></div><p id=\"reported\" hidden><button type=\"button\" class=\"button quiet\" \
         id=\"report\" data-do=\"report\">Download the report as JSON</button> <button type=\"button\" \
         class=\"button quiet\" data-do=\"print\">Print the report</button></p></div></section></div>",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::choice::OTHERS;

    #[test]
    fn every_key_has_a_control_and_a_place_for_its_fault() {
        let html = html(&Choice::default());
        for key in FIELDS.iter().chain(&OTHERS) {
            assert_eq!(html.matches(&format!(" data-key=\"{key}\"")).count(), 1, "{key}");
            assert_eq!(html.matches(&format!("id=\"fault-{key}\"")).count(), 1, "{key}");
        }
    }
}
