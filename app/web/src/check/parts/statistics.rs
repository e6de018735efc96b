//! What a run gave, in numbers.

use super::{CLASS_NAMES, mebibytes, percent, thousands};
use crate::check::parts::layers::rate;
use crate::check::protocol::Facts;
use serde_json::{Value, json};
use std::fmt::Write;
use uresnet::{CLASSES, Report};

/// Time, memory, pixels of each class, and the scores where labels are known.
pub fn html(facts: &Facts) -> String {
    let (macs, seconds) = facts.whole();
    let (low, high) = facts.range;
    let mut out = String::from("<dl class=\"facts\">");
    let mut fact = |name: &str, value: String| {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    };
    fact("Time", format!("{seconds:.2} s"));
    fact("Work", format!("{:.2} GMAC, {:.1} GFLOP/s", macs as f64 / 1e9, rate(macs, seconds)));
    fact("Instructions", facts.instructions.clone());
    fact("Threads", facts.threads.to_string());
    let memory = facts.memory;
    fact(
        "Memory",
        format!("{} (maps {}, weights {})", mebibytes(memory.whole), mebibytes(memory.maps), mebibytes(memory.weights)),
    );
    fact("Logits", format!("{:?} from {low:.4} to {high:.4}", facts.shape));
    if let Some(scores) = &facts.scores {
        fact("Right class", percent(Some(scores.accuracy)));
        fact("Right class where not background", percent(scores.non_background_accuracy));
        for (name, iou) in CLASS_NAMES.iter().zip(scores.iou) {
            fact(&format!("IoU {name}"), iou.map_or_else(|| "–".to_string(), |iou| format!("{iou:.4}")));
        }
    }
    out.push_str(
        "</dl><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Pixels\"><table><caption>Pixels by \
         predicted class</caption><thead><tr><th scope=\"col\">plane</th>",
    );
    for name in CLASS_NAMES {
        let _ = write!(out, "<th scope=\"col\">{name}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for (plane, row) in facts.pixels.iter().enumerate() {
        let _ = write!(out, "<tr><th scope=\"row\">{plane}</th>");
        for &count in row {
            let _ = write!(out, "<td>{}</td>", thousands(count));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if let Some(&pictures @ 2..) = facts.shape.first() {
        let _ = write!(
            out,
            "<p>The file holds {pictures} pictures. All were computed and compared; the first is shown.</p>"
        );
    }
    out
}

/// One object with the fields of `portolan forward --format json`.
pub fn json(facts: &Facts, comparison: Option<&Report>) -> String {
    let steps: Vec<Value> = facts
        .steps
        .iter()
        .map(|(step, seconds)| {
            let gflops = rate(step.macs, *seconds);
            json!({ "path": step.path, "kind": step.kind, "macs": step.macs, "seconds": seconds, "gflops": gflops })
        })
        .collect();
    let (macs, seconds) = facts.whole();
    let pixels: [u64; CLASSES] = std::array::from_fn(|class| facts.pixels.iter().map(|plane| plane[class]).sum());
    let whole = json!({
        "config": facts.config,
        "parameters": facts.parameters,
        "shape": facts.shape,
        "instructions": facts.instructions,
        "threads": facts.threads,
        "macs": macs,
        "seconds": seconds,
        "gflops": rate(macs, seconds),
        "steps": steps,
        "logits": { "lowest": facts.range.0, "highest": facts.range.1, "pixels": pixels },
        "scores": facts.scores,
        "comparison": comparison,
    });
    format!("{whole:#}\n")
}
