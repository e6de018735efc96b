//! The index of all recipes, by guide: what each does, how safe it is, and what the guide leaves as manual work.

use crate::api_list::named;
use crate::badge;
use crate::filter::{self, Choice, Filter};
use crate::shell::{Frame, shell};
use codemod::names_matched;
use guide::html::escape;
use guide::{Guide, Section};

/// The page at `recipes/`, for the guides of the port's targets.
pub(crate) fn write(guides: &[Guide], targets: &[&str]) -> String {
    let offered = |guide: &&Guide| guide.front.target.as_deref().is_some_and(|target| targets.contains(&target));
    let mut count = 0;
    let mut lists = String::new();
    let mut sdks: Vec<(String, String)> = Vec::new();
    for guide in guides.iter().filter(offered) {
        let recipes: Vec<_> = guide.sections.iter().filter(|section| section.is_recipe()).collect();
        count += recipes.len();
        let having = targets_of(guide, guides, targets).join(" ");
        for sdk in &guide.front.sdks {
            let of_target = guide.front.target.as_deref().unwrap_or_default();
            let choice = (version(of_target, sdk), format!("{} {sdk}", named(guides, of_target).1));
            if !sdks.contains(&choice) {
                sdks.push(choice);
            }
        }
        lists += &format!(
            "<section aria-labelledby=\"{name}\" data-group>\n<h2 id=\"{name}\"><a href=\"../guides/{name}/\">{}</a></h2>\n\
             <ul class=\"recipes\">\n",
            escape(&guide.front.title),
            name = guide.name,
        );
        for section in recipes {
            lists += &format!(
                "<li data-words=\"{}\" data-target=\"{having}\" data-kind=\"{}\" data-sdk=\"{}\">\
                 <a href=\"../guides/{}/#{}\">{}</a>{}</li>\n",
                escape(&words(section)),
                badge::kinds(section).join(" "),
                versions(guide, section).join(" "),
                guide.name,
                section.id,
                escape(&section.title),
                badge::of_section(section)
            );
        }
        lists += "</ul>\n</section>\n";
    }
    let kinds = [("safe", "Automatic"), ("unsafe", "Opt-in"), ("manual", "Manual")];
    let narrowed_by = Filter {
        items: ".recipes > li",
        noun: ("recipe", "recipes"),
        choices: vec![
            Choice {
                name: "target",
                label: "Target",
                values: targets.iter().map(|target| named(guides, target)).collect(),
            },
            Choice { name: "sdk", label: "SDK version", values: sdks },
            Choice {
                name: "kind",
                label: "How it is applied",
                values: kinds.map(|(kind, label)| (kind.to_string(), label.to_string())).to_vec(),
            },
        ],
    };
    let main = format!(
        "<div class=\"wrap band\">\n<div class=\"prose\">\n<h1>Recipes</h1>\n<p class=\"lead\">All {count} recipes, by guide. To \
         compare what happens to an API on each target, see <a href=\"../apis/\">API lookup</a>.</p>\n\
         {}{lists}</div>\n</div>\n",
        filter::form(&narrowed_by, count)
    );
    shell(&Frame {
        path: "recipes/",
        title: "Recipes",
        description: "Every recipe of every guide: what it does, and whether it is automatic, opt-in or manual.",
        head: &filter::script("../"),
        main: &main,
        ..Frame::default()
    })
}

/// The targets to which a guide's recipes apply: its own, and those that extend it.
fn targets_of<'a>(guide: &Guide, guides: &[Guide], targets: &[&'a str]) -> Vec<&'a str> {
    let own = guide.front.target.as_deref();
    let extends = |target: &str| {
        guides.iter().any(|g| g.front.target.as_deref() == Some(target) && g.front.extends.as_deref() == own)
    };
    targets.iter().copied().filter(|target| own == Some(*target) || extends(target)).collect()
}

/// The search text of a recipe: its heading, its reason, and the names that its rules match.
fn words(section: &Section) -> String {
    let names = names_matched(section);
    let names: Vec<String> = names.into_iter().collect();
    format!("{} {} {}", section.title, section.reason, names.join(" "))
}

/// The guide's SDK versions to which a rule of the recipe applies.
fn versions(guide: &Guide, section: &Section) -> Vec<String> {
    let holds = |sdk: &&String| {
        section.rules.iter().any(|rule| guide::sdk::sdk_admits(rule.sdk.as_deref().unwrap_or_default(), sdk))
    };
    let target = guide.front.target.as_deref().unwrap_or_default();
    guide.front.sdks.iter().filter(holds).map(|sdk| version(target, sdk)).collect()
}

/// A version with the target of its SDK.
fn version(target: &str, sdk: &str) -> String {
    format!("{target}-{sdk}")
}
