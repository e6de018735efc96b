//! The index of all recipes, by guide: what each does, how far it may be trusted, and what the guide leaves to a person.

use crate::badge;
use crate::shell::{Frame, shell};
use guide::Guide;
use guide::html::escape;

/// The page at `recipes/`, over the guides of the targets that the port offers.
pub(crate) fn write(guides: &[Guide], targets: &[&str]) -> String {
    let offered = |guide: &&Guide| guide.front.target.as_deref().is_some_and(|target| targets.contains(&target));
    let mut count = 0;
    let mut lists = String::new();
    for guide in guides.iter().filter(offered) {
        let recipes: Vec<_> = guide.sections.iter().filter(|section| !section.rules.is_empty()).collect();
        count += recipes.len();
        lists += &format!(
            "<section aria-labelledby=\"{name}\">\n<h2 id=\"{name}\"><a href=\"../guides/{name}/\">{}</a></h2>\n\
             <ul class=\"recipes\">\n",
            escape(&guide.front.title),
            name = guide.name,
        );
        for section in recipes {
            lists += &format!(
                "<li><a href=\"../guides/{}/#{}\">{}</a>{}</li>\n",
                guide.name,
                section.id,
                escape(&section.title),
                badge::of_section(section)
            );
        }
        lists += "</ul>\n</section>\n";
    }
    let main = format!(
        "<div class=\"wrap band\">\n<div class=\"prose\">\n<h1>Recipes</h1>\n<p class=\"lead\">All {count} recipes, by guide. To \
         find one by the name of an API, see <a href=\"../apis/\">what becomes of an API</a>.</p>\n{lists}</div>\n</div>\n"
    );
    shell(&Frame {
        path: "recipes/",
        title: "Recipes",
        description: "Every recipe of every guide, with what it does and how far it may be trusted.",
        main: &main,
        ..Frame::default()
    })
}
