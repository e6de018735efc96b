//! The list of guides.

use crate::badge;
use crate::guide_page::facts;
use crate::shell::{Frame, shell};
use crate::theme;
use guide::Guide;
use guide::html::escape;

pub(crate) fn write(guides: &[Guide]) -> String {
    let main = format!(
        "<div class=\"wrap guide-list band\">\n<h1>Guides</h1>\n\
         <p class=\"lead\">One page for each target. Each recipe says what changes and why, and is itself the rule \
         that the engine runs. You can also browse <a href=\"../recipes/\">all recipes</a>, look up \
         <a href=\"../apis/\">an API</a>, or a word in the <a href=\"../glossary/\">glossary</a>.</p>\n{}</div>\n",
        cards(guides, "")
    );
    shell(&Frame {
        path: "guides/",
        title: "Guides",
        description: "Guides to porting a training script, one page for each target machine.",
        head: &format!("<link rel=\"stylesheet\" href=\"../{}\">\n", theme::names().parts),
        main: &main,
        ..Frame::default()
    })
}

/// The guides as cards. `to` is the path from the page to `/guides/`.
pub(crate) fn cards(guides: &[Guide], to: &str) -> String {
    let mut html = String::from("<ul class=\"cards\">\n");
    for guide in guides {
        html += &format!(
            "<li><div class=\"card\"><h2><a href=\"{to}{}/\">{}</a></h2><p>{}</p>{}</div></li>\n",
            guide.name,
            escape(&guide.front.title),
            escape(&guide.front.description),
            badge::list(&facts(guide)),
        );
    }
    html + "</ul>\n"
}
