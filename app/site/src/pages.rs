//! All pages of the site.

use crate::guide_page::{Around, Body, Source};
use crate::kit::{self, Kit};
use crate::search::Entry;
use crate::{
    SiteError, api_list, check_page, examples, guide_list, guide_page, home, launch_page, licence_list, links::Map,
    manifest, missing, parallel, port_page, print_page, recipe_list, search, source_list, text_page, theme,
};
use codemod::RecipeSet;
use guide::{Guide, Page};
use std::collections::{BTreeMap, BTreeSet};

/// The sources of the site.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The guides, in any order.
    pub guides: &'a [Page],
    /// `app/web/index.html` as Trunk built it; without it there is no `port/index.html`.
    pub port_page: Option<&'a str>,
    /// Files of `public/`, which guides may use; as paths from the site's root.
    pub assets: &'a BTreeSet<String>,
    /// Files of `rehearsal/`; none for a site without the kit.
    pub kit: &'a Kit,
    /// The path under which the site will be hosted, with `/` at both ends. `404.html` needs it, because it is shown
    /// for any address, and the manifest, because it identifies an installed app.
    pub base: &'a str,
    /// Day of a guide's last change, by its path; guides without one show none. Called while pages are being written.
    pub changed: &'a LastChanges<'a>,
    /// Address below which `guides/NAME.md` can be edited; without it no page has a link.
    pub edit: Option<&'a str>,
    /// Whether the site will offer itself as one file, [`crate::ONE_FILE`].
    pub one_file: bool,
}

/// From a guide's path to the day of its last change.
pub type LastChanges<'a> = dyn Fn(&str) -> Option<String> + Sync + 'a;

/// The maximum number of guides on one page: nobody prints more at once, and browsers can't lay them out.
const PRINTED: usize = 100;

/// Builds every page: paths from the site's root with `/`, and contents. The same input produces the same bytes.
pub fn build(input: &Input<'_>) -> Result<BTreeMap<String, Vec<u8>>, Vec<SiteError>> {
    write_all(input).map_err(|faults| {
        // An error in shared text is one of several guides.
        let mut distinct: Vec<SiteError> = Vec::new();
        for fault in faults.into_iter().map(|fault| fault.located(input.guides)) {
            if !distinct.contains(&fault) {
                distinct.push(fault);
            }
        }
        distinct
    })
}

/// The pages; errors have the lines of the guides' whole text.
fn write_all(input: &Input<'_>) -> Result<BTreeMap<String, Vec<u8>>, Vec<SiteError>> {
    let mut faults: Vec<SiteError> = Vec::new();
    let mut sources: Vec<Source<'_>> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let parsed = parallel::each(input.guides, |_, page| Guide::parse(&page.path, &page.text));
    for (page, parsed) in input.guides.iter().zip(parsed) {
        match parsed {
            Ok(guide) if !names.insert(guide.name.clone()) => {
                faults.push(SiteError::SameName { path: page.path.clone(), name: guide.name });
            }
            Ok(guide) => sources.push(Source { guide, text: &page.text }),
            Err(found) => faults.extend(found.into_iter().map(SiteError::Guide)),
        }
    }
    sources.sort_by(|a, b| (a.guide.front.order, &a.guide.name).cmp(&(b.guide.front.order, &b.guide.name)));

    let guides: Vec<Guide> = sources.iter().map(|source| source.guide.clone()).collect();
    let recipes = match RecipeSet::compile(&guides) {
        Ok(recipes) => recipes,
        Err(found) => {
            faults.extend(found.into_iter().map(SiteError::Recipe));
            return Err(faults);
        }
    };
    let map = Map::new(sources.iter().map(|source| &source.guide), input.assets);
    let targets = recipes.targets();
    let mut pages: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut entries = Vec::new();
    let (mut bodies, mut uses) = (Vec::new(), Vec::new());
    let write_guide = |index: usize, source: &Source<'_>| {
        let around = Around {
            before: index.checked_sub(1).map(|before| &sources[before].guide),
            after: sources.get(index + 1).map(|after| &after.guide),
            changed: (input.changed)(&source.guide.path),
            edit: input.edit,
        };
        guide_page::write(source, &around, &map, &recipes, &targets, input.kit)
    };
    let (written, others) =
        parallel::both(|| parallel::each(&sources, write_guide), || Others::write(input, &guides, &recipes, &map));
    for (source, page) in sources.iter().zip(written) {
        bodies.push(Body { guide: &source.guide, html: page.body });
        uses.extend(page.sources.into_iter().map(|(section, link)| (&source.guide, section, link)));
        faults.extend(page.faults.into_iter().map(SiteError::Guide));
        pages.insert(format!("guides/{}/index.html", source.guide.name), page.html.into_bytes());
        pages.extend(examples::write(&source.guide));
        entries.extend(page.entries);
    }
    pages.insert("sources/index.html".to_string(), source_list::write(&uses).into_bytes());
    faults.extend(others.faults);
    entries.extend(others.entries);
    // The recipes consist of so many small allocations that freeing them takes as long as a page.
    let printed = || (bodies.len() <= PRINTED).then(|| print_page::write(&bodies).into_bytes());
    let (printed, searched) = parallel::both(printed, move || {
        drop(recipes);
        search::write(&entries)
    });
    pages.extend(printed.map(|page| ("print/index.html".to_string(), page)));
    match searched {
        Ok(text) => drop(pages.insert(search::FILE.to_string(), text.into_bytes())),
        Err(fault) => faults.push(fault),
    }
    pages.extend(others.pages);
    if faults.is_empty() { Ok(pages) } else { Err(faults) }
}

/// Everything that does not depend on guides' pages: lists, the home page, pages with a program, and files.
#[derive(Default)]
struct Others {
    pages: BTreeMap<String, Vec<u8>>,
    entries: Vec<Entry>,
    faults: Vec<SiteError>,
}

impl Others {
    fn write(input: &Input<'_>, guides: &[Guide], recipes: &RecipeSet, map: &Map<'_>) -> Others {
        let mut others = Others::default();
        let offered = recipes.targets();
        let targets: Vec<&str> = offered.iter().map(|target| &*target.id).collect();
        let (apis, entries) = api_list::write(guides, &targets);
        for (path, text) in [
            ("index.html", home::write(guides, recipes, input.one_file)),
            ("guides/index.html", guide_list::write(guides)),
            ("recipes/index.html", recipe_list::write(guides, &targets)),
            ("apis/index.html", apis),
            ("launch/index.html", launch_page::write(&targets)),
            ("check/index.html", check_page::write(&targets)),
            (manifest::FILE, manifest::write(input.base)),
            ("404.html", missing::write(input.base)),
        ] {
            others.pages.insert(path.to_string(), text.into_bytes());
        }
        match licence_list::write() {
            Ok(page) => drop(others.pages.insert("licences/index.html".to_string(), page.into_bytes())),
            Err(why) => others.faults.push(SiteError::Licences(why)),
        }
        match text_page::write(map) {
            Ok((texts, found)) => {
                let texts = texts.into_iter().map(|(folder, html)| (format!("{folder}index.html"), html.into_bytes()));
                others.pages.extend(texts);
                others.entries.extend(found);
            }
            Err(found) => others.faults.extend(found),
        }
        others.entries.extend(entries);
        match input.port_page.map(port_page::wrap_port) {
            Some(Ok(page)) => {
                others.pages.insert("port/index.html".to_string(), page.html.into_bytes());
                others.pages.extend(page.scripts.into_iter().map(|(name, text)| (name, text.into_bytes())));
            }
            Some(Err(fault)) => others.faults.push(fault),
            None => {}
        }
        if !input.kit.is_empty() {
            match kit::pack(input.kit) {
                Ok(bytes) => drop(others.pages.insert(kit::ARCHIVE.to_string(), bytes)),
                Err(fault) => others.faults.push(fault),
            }
        }
        others.pages.extend(theme::files().map(|(name, text)| (name, text.into_bytes())));
        others
    }
}

#[cfg(test)]
mod tests;
