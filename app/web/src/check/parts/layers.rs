//! How long each layer took.

use super::{escape, short_path};
use std::fmt::Write;
use uresnet::Step;

/// GFLOP/s by the definition: a method that saves products counts as if it did them all.
pub(crate) fn rate(macs: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { 2.0 * macs as f64 / seconds / 1e9 } else { 0.0 }
}

/// Two tables: kinds of work, and every step in the order they ran.
pub fn html(steps: &[(Step, f64)]) -> String {
    let mut kinds: Vec<(&str, u64, f64)> = Vec::new();
    for (step, seconds) in steps {
        match kinds.iter_mut().find(|(kind, ..)| *kind == step.kind) {
            Some((_, macs, sum)) => (*macs, *sum) = (*macs + step.macs, *sum + seconds),
            None => kinds.push((&step.kind, step.macs, *seconds)),
        }
    }
    kinds.sort_by(|a, b| b.2.total_cmp(&a.2));
    let whole: f64 = steps.iter().map(|(_, seconds)| seconds).sum();
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Kinds of layers\"><table><caption>Kinds of \
         layers</caption><thead><tr><th scope=\"col\">kind</th><th scope=\"col\">GMAC</th><th scope=\"col\">ms</th>\
         <th scope=\"col\">share</th><th scope=\"col\">GFLOP/s</th></tr></thead><tbody>",
    );
    for (kind, macs, seconds) in kinds {
        let share = if whole > 0.0 { 100.0 * seconds / whole } else { 0.0 };
        let (kind, gmac, ms, rate) = (escape(kind), macs as f64 / 1e9, seconds * 1e3, rate(macs, seconds));
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{kind}</th><td>{gmac:.3}</td><td>{ms:.1}</td><td>{share:.1} %</td>\
             <td>{rate:.1}</td></tr>"
        );
    }
    let _ = write!(
        out,
        "</tbody></table></div><details><summary>All {} steps</summary><div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"All steps\"><table id=\"steps\"><thead><tr><th scope=\"col\">module</th>\
         <th scope=\"col\">kind</th><th scope=\"col\">GMAC</th><th scope=\"col\">ms</th><th scope=\"col\">GFLOP/s</th>\
         </tr></thead><tbody>",
        steps.len()
    );
    for (step, seconds) in steps {
        let (path, kind) = (escape(&short_path(&step.path)), escape(&step.kind));
        let (gmac, ms, rate) = (step.macs as f64 / 1e9, seconds * 1e3, rate(step.macs, *seconds));
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><code>{path}</code></th><td>{kind}</td><td>{gmac:.3}</td><td>{ms:.2}</td>\
             <td>{rate:.1}</td></tr>"
        );
    }
    out.push_str("</tbody></table></div></details>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_summed_and_the_slowest_comes_first() {
        let step = |path: &str, kind: &str, macs| Step { path: path.into(), kind: kind.into(), macs };
        let steps = [(step("a", "1x1", 1), 1.0), (step("b", "3x3", 3_000_000_000), 2.0), (step("c", "3x3", 0), 1.0)];
        let html = html(&steps);
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} in {html}"));
        assert!(at("<th scope=\"row\">3x3</th><td>3.000</td><td>3000.0</td><td>75.0 %</td><td>2.0</td>") < at("1x1"));
        at("All 3 steps");
        at("<code>c</code>");
    }
}
