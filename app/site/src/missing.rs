//! The page for missing addresses. If there is no network, the service worker shows the text in `data-offline` instead:
//! it can't know whether there is such a page.

use crate::shell::{Frame, shell};

pub(crate) fn write(base: &str) -> String {
    let main = format!(
        "<div class=\"wrap band\">\n<h1 data-offline=\"Not available offline\">There is no such page</h1>\n\
         <p class=\"lead\" data-offline=\"There is no network connection, and this page is not among those stored for offline \
         use.\">The address may be mistyped, or the page may have moved.</p>\n\
         <p class=\"actions\"><a class=\"button\" href=\"{base}port/\">Port a script</a>\
         <a class=\"button quiet\" href=\"{base}guides/\">Read the guides</a></p>\n</div>\n"
    );
    shell(&Frame {
        path: "404/",
        root: Some(base),
        title: "No such page",
        description: "There is no page at this address.",
        head: "<meta name=\"robots\" content=\"noindex\">\n",
        main: &main,
        ..Frame::default()
    })
}
