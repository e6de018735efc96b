//! How far another run's outputs are off.

use super::{CLASS_NAMES, escape, percent, short_path, thousands};
use std::fmt::Write;
use uresnet::{Distance, Precision, Report};

/// The verdict and what it rests on; `shape` is the logits'.
pub fn html(report: &Report, shape: &[usize]) -> String {
    let mut out = String::new();
    let (class, verdict) = match report.agrees {
        true => ("good", "The outputs agree"),
        false => ("bad", "The outputs do not agree"),
    };
    let _ = write!(
        out,
        "<p class=\"verdict {class}\" id=\"verdict\"><strong>{verdict}</strong> within what {} asks for: {} \
         For each, this run has:</p>",
        name(report.precision),
        format_args!(
            "a largest difference of at most {:.1e} of the largest logit, and the same class in at least {} of pixels.",
            report.tolerance,
            percent(Some(report.least_agreement))
        ),
    );
    out.push_str("<dl class=\"facts\">");
    let mut fact = |name: &str, value: String| {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    };
    let apart = &report.distance;
    fact("Of the largest logit", format!("{:.3e}", apart.max_relative_to_range));
    fact("Same class", format!("{:.4} %", 100.0 * report.same_class));
    fact("Largest difference", format!("{:.3e} at {}", apart.max_absolute, place(apart.worst_index, shape)));
    fact("Mean difference", format!("{:.3e}", apart.mean_absolute));
    fact("Largest relative to the number itself", format!("{:.3e}", apart.max_relative));
    fact("NaN or infinite on one side", thousands(apart.not_finite as u64));
    for (name, iou) in CLASS_NAMES.iter().zip(report.iou) {
        fact(&format!("IoU {name}"), iou.map_or_else(|| "–".to_string(), |iou| format!("{iou:.4}")));
    }
    out.push_str("</dl>");
    stages(&mut out, report);
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Differences by plane\"><table><caption>Logits \
         by plane</caption><thead><tr><th scope=\"col\">plane</th><th scope=\"col\">largest difference</th>\
         <th scope=\"col\">mean</th><th scope=\"col\">of the largest logit</th></tr></thead><tbody>",
    );
    for (plane, distance) in report.planes.iter().enumerate() {
        row(&mut out, &plane.to_string(), distance, "");
    }
    out.push_str("</tbody></table></div>");
    histogram(&mut out, apart);
    out
}

/// The numbers of a precision.
pub fn name(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp32 => "float32",
        Precision::Bf16 => "bfloat16",
        Precision::Fp16 => "float16",
    }
}

fn row(out: &mut String, head: &str, distance: &Distance, class: &str) {
    let Distance { max_absolute, mean_absolute, max_relative_to_range, .. } = distance;
    let _ = write!(
        out,
        "<tr{class}><th scope=\"row\">{head}</th><td>{max_absolute:.3e}</td><td>{mean_absolute:.3e}</td>\
         <td>{max_relative_to_range:.3e}</td></tr>"
    );
}

/// Where in [pictures, planes, classes, height, width] a number stands.
fn place(mut index: usize, shape: &[usize]) -> String {
    let names = ["picture", "plane", "class", "row", "column"];
    let mut parts = Vec::new();
    for (name, &length) in names.iter().zip(shape).rev() {
        parts.push(format!("{name} {}", index % length.max(1)));
        index /= length.max(1);
    }
    if shape.first() == Some(&1) {
        parts.pop();
    }
    parts.reverse();
    parts.join(", ")
}

fn stages(out: &mut String, report: &Report) {
    let count = report.stages.len();
    let _ = match &report.first_diverging_stage {
        _ if count == 0 => write!(
            out,
            "<p id=\"stages\">The file holds no outputs of modules, so it can't be said where the two part. Write them \
             as <code>stage.PATH.plane0</code> to find the first that is off.</p>"
        ),
        Some(name) => write!(
            out,
            "<p id=\"stages\">The first module that is further off: <code>{}</code>.</p>",
            escape(&short_path(name))
        ),
        None => write!(out, "<p id=\"stages\">None of the {count} modules' outputs in the file is further off.</p>"),
    };
    if count == 0 {
        return;
    }
    let _ = write!(
        out,
        "<details><summary>{count} modules in the order they run</summary><div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Modules\"><table><thead><tr><th scope=\"col\">module</th><th scope=\"col\">largest \
         difference</th><th scope=\"col\">mean</th><th scope=\"col\">of the largest number</th></tr></thead><tbody>"
    );
    for stage in &report.stages {
        let off = stage.distance.max_relative_to_range > report.tolerance || stage.distance.not_finite > 0;
        let class = if off { " class=\"off\"" } else { "" };
        row(out, &format!("<code>{}</code>", escape(&short_path(&stage.name))), &stage.distance, class);
    }
    out.push_str("</tbody></table></div></details>");
}

/// Bars of the numbers by their distance in units of the last place.
fn histogram(out: &mut String, distance: &Distance) {
    let last = distance.ulps.iter().rposition(|&count| count > 0).unwrap_or(0);
    let most = distance.ulps.iter().copied().max().unwrap_or(0).max(1);
    out.push_str(
        "<table class=\"histogram\" id=\"ulps\"><caption>Logits by how many float32 numbers they are apart (units in the \
         last place)</caption><thead><tr><th scope=\"col\">apart</th><th scope=\"col\">logits</th><td></td></tr></thead>\
         <tbody>",
    );
    for (power, &count) in distance.ulps.iter().enumerate().take(last + 1) {
        let apart = match power {
            0 => "0".to_string(),
            1 => "1".to_string(),
            _ => format!("{}–{}", thousands(1 << (power - 1)), thousands((1 << power) - 1)),
        };
        let count_text = thousands(count);
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{apart}</th><td>{count_text}</td><td aria-hidden=\"true\"><meter min=\"0\" \
             max=\"{most}\" value=\"{count}\"></meter></td></tr>"
        );
    }
    out.push_str("</tbody></table>");
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places() {
        let check = |index, shape: &[usize], expected| assert_eq!(place(index, shape), expected);
        check(0, &[1, 3, 3, 2, 4], "plane 0, class 0, row 0, column 0");
        check(71, &[1, 3, 3, 2, 4], "plane 2, class 2, row 1, column 3");
        check(72, &[2, 3, 3, 2, 4], "picture 1, plane 0, class 0, row 0, column 0");
    }
}
