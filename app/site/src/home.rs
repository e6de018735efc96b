//! The home page: what Portolan does, with a real port.

use crate::api_list::named;
use crate::figure;
use crate::guide_list::cards;
use crate::one_file::ONE_FILE;
use crate::shell::{Frame, shell};
use crate::theme;
use codemod::{Options, RecipeSet, Style, port};
use guide::html::escape;
use guide::{Guide, Section};
use python::SourceFile;
use std::f64::consts::PI;

/// The example script: small, but realistic.
const SCRIPT: &str = include_str!("home/train.py");

pub(crate) fn write(guides: &[Guide], recipes: &RecipeSet, one_file: bool) -> String {
    let main = format!(
        "<div class=\"hero\"><div class=\"wrap\">{chart}\
         <h1>Take a training script to a new machine</h1>\n\
         <p class=\"lead\">Paste a PyTorch script, pick the accelerator, and read what has to change: every change with \
         its reason and a link to the guide it comes from. Download everything as a patch for <code>git apply</code>.</p>\n\
         <p class=\"actions\"><a class=\"button\" href=\"port/\">Port a script</a>\
         <a class=\"button quiet\" href=\"guides/\">Read the guides</a></p>\n</div></div>\n\
         {example}{STEPS}{takeaway}\
         <section class=\"wrap band\" aria-labelledby=\"guides\">\n<h2 id=\"guides\">Guides</h2>\n\
         <p>Guides are executable: each recipe is the rule the engine applies, and its examples are tests.</p>\n\
         {cards}</section>\n",
        chart = chart(),
        example = example(guides, recipes).unwrap_or_default(),
        takeaway = if one_file { takeaway() } else { String::new() },
        cards = cards(guides, "guides/").replace("<h2>", "<h3>").replace("</h2>", "</h3>"),
    );
    shell(&Frame {
        path: "",
        title: "Portolan: take a training script to a new machine",
        description: "Ports PyTorch training scripts to other accelerators, in your browser: a diff with a reason for \
                      every change.",
        head: &format!(
            "<link rel=\"stylesheet\" href=\"{}\">\n<script src=\"{}\" defer></script>\n",
            theme::names().parts,
            theme::names().tabs
        ),
        main: &main,
        ..Frame::default()
    })
}

const STEPS: &str = "<section class=\"wrap band\" aria-labelledby=\"how\">\n<h2 id=\"how\">How it works</h2>\n\
    <ol class=\"steps\">\n\
    <li><h3>Add your code</h3><p>Paste a script, or drop files, a folder or a zip. Your code stays in your browser: \
    the engine runs there.</p></li>\n\
    <li><h3>Read the changes</h3><p>The new code appears beside the old. Each change names its recipe; accept or reject \
    it.</p></li>\n\
    <li><h3>Work through the rest</h3><p>What no rule can decide is listed, with its line and what to do \
    there.</p></li>\n\
    <li><h3>Apply it</h3><p>Download a patch, the files, or a report of what was changed and checked.</p></li>\n\
    <li><h3>Launch it</h3><p>The <a href=\"launch/\">scripts that start it</a> on your site are generated from the ported project. \
    You run them on the machine yourself.</p></li>\n\
    <li><h3>Compare the numbers</h3><p>A project built on CosmicTagger’s network can be compared with a <a href=\"check/\">CPU \
    reference run in this browser</a>.</p></li>\n</ol>\n</section>\n";

fn takeaway() -> String {
    format!(
        "<section class=\"wrap band\" aria-labelledby=\"offline-use\">\n<h2 id=\"offline-use\">Without a network</h2>\n\
         <p>After one visit the site works offline. For a login node, download it as <a href=\"{ONE_FILE}\" download>a single \
         file</a> with the guides, search, porting and launch scripts. Only Check a port is missing from it; for that, use the site or the command.</p>\n</section>\n"
    )
}

/// The script ported to every target that changes it, as tabs; empty if there is none.
fn example(guides: &[Guide], recipes: &RecipeSet) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut panels = String::new();
    for guide in guides {
        let Some(target) = guide.front.target.as_deref().filter(|target| !seen.contains(target)) else { continue };
        // The tutorial is not a machine, and has no compute mode.
        if !recipes.targets().iter().any(|offered| *offered.id == *target) {
            continue;
        }
        seen.push(target);
        let first = if panels.is_empty() { " data-first" } else { "" };
        panels += &panel(guides, guide, target, recipes, first).unwrap_or_default();
    }
    (!panels.is_empty()).then(|| {
        format!(
            "<section class=\"wrap band\" aria-labelledby=\"example\">\n<h2 id=\"example\">See a small example</h2>\n\
             <div data-tabs=\"target\" data-label=\"Port to\">\n{panels}</div>\n</section>\n"
        )
    })
}

/// The script ported to one target, next to the reasons; `first` marks the one that is open initially.
fn panel(guides: &[Guide], guide: &Guide, target: &str, recipes: &RecipeSet, first: &str) -> Option<String> {
    let file = SourceFile { path: "train.py".to_string(), text: SCRIPT.to_string() };
    let options = Options {
        target: target.to_string(),
        style: Style::InPlace,
        sdk: guide.front.sdks.last().cloned(),
        ..Options::default()
    };
    let ported = port(&[file], recipes, &options).files.into_iter().next().filter(|file| file.changed)?;
    let mut ids: Vec<&str> = Vec::new();
    for edit in &ported.edits {
        if !ids.contains(&edit.recipe.as_str()) {
            ids.push(&edit.recipe);
        }
    }
    let reasons: String = ids
        .iter()
        .filter_map(|id| section(guides, id))
        .map(|(guide, section)| {
            format!(
                "<li><a href=\"guides/{}/#{}\">{}</a><p>{}</p></li>\n",
                guide.name,
                section.id,
                escape(&section.title),
                escape(first_sentence(&section.reason)),
            )
        })
        .collect();
    let name = named(guides, target).1;
    Some(format!(
        "<section id=\"port-to-{target}\" data-for=\"{target}\" data-name=\"{name}\" aria-label=\"Port to {name}\"{first}>\n\
         <div class=\"split\"><figure class=\"code\"><figcaption><span>train.py · {title}</span></figcaption>\n{diff}</figure>\n\
         <div><h3 class=\"visually-hidden\">Reasons</h3>\n<ul class=\"reasons\">\n{reasons}</ul></div></div>\n</section>\n",
        title = escape(&guide.front.title),
        diff = figure::difference(
            "python",
            SCRIPT,
            &ported.text,
            Some(&format!("train.py, before and after the port to {name}"))
        ),
    ))
}

fn section<'a>(guides: &'a [Guide], recipe: &str) -> Option<(&'a Guide, &'a Section)> {
    let (name, anchor) = recipe.split_once('#')?;
    let guide = guides.iter().find(|guide| guide.name == name)?;
    Some((guide, guide.sections.iter().find(|section| section.id == anchor)?))
}

/// Up to the first full stop that ends a sentence, not one inside `torch.cuda`.
fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// The lines of a portolan chart: sixteen points of a circle, each connected with those that are not its neighbours.
fn chart() -> String {
    let point = |index: usize| {
        let angle = PI * index as f64 / 8.0;
        (320.0 + 310.0 * angle.sin(), 320.0 - 310.0 * angle.cos())
    };
    let mut lines = String::new();
    for from in 0..16 {
        for to in from + 2..16 {
            if (from, to) != (0, 15) {
                let ((x, y), (to_x, to_y)) = (point(from), point(to));
                lines += &format!("M{x:.0} {y:.0}L{to_x:.0} {to_y:.0}");
            }
        }
    }
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 640 640\" aria-hidden=\"true\"><path d=\"{lines}\"/>\
         <path class=\"rose-north\" d=\"M320 320L320 10\"/></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{chart, first_sentence};

    #[test]
    fn a_sentence_ends_at_a_stop_and_a_blank() {
        assert_eq!(first_sentence("Use torch.hpu here. Then more."), "Use torch.hpu here.");
        assert_eq!(first_sentence("Use torch.hpu."), "Use torch.hpu.");
    }

    #[test]
    fn the_chart_has_every_line_once() {
        assert_eq!(chart().matches('M').count(), 16 * 13 / 2 + 1);
    }
}
