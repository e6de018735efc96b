//! The search data: sections of guides, API names and pages, as one JSON file that the browser requests at the first
//! search. MiniSearch (`vendor/`) builds the index there.

use crate::SiteError;
use guide::Guide;
use guide::html::Document;
use serde::Serialize;

/// Name of the file, relative to the site's root.
pub(crate) const FILE: &str = "search.json";

/// A search entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// Its kind, which is the heading under which it is listed.
    pub(crate) group: &'static str,
    /// Address from the site's root.
    pub(crate) to: String,
    /// Its name.
    pub(crate) title: String,
    /// Its location, for display.
    pub(crate) place: String,
    /// Its text, one block per line.
    pub(crate) text: String,
    /// Lines of error messages that it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) says: Vec<String>,
}

/// The sections of a guide; recipes are a separate group.
pub(crate) fn of_guide(guide: &Guide, document: &Document) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (id, blocks) in document.passages() {
        let section = guide.sections.iter().find(|section| section.id == id);
        let path = format!("guides/{}/", guide.name);
        let text = blocks.join("\n");
        entries.push(match section {
            Some(section) => Entry {
                group: if section.is_recipe() { "Recipes" } else { "Guides" },
                to: format!("{path}#{id}"),
                title: section.title.clone(),
                place: guide.front.title.clone(),
                text,
                says: section.says.iter().map(|sample| sample.text.clone()).collect(),
            },
            None => Entry {
                group: "Guides",
                to: path,
                title: guide.front.title.clone(),
                place: "Guide".to_string(),
                text: format!("{}\n{text}", guide.front.description).trim_end().to_string(),
                ..Entry::default()
            },
        });
    }
    entries
}

/// The file's text.
pub(crate) fn write(entries: &[Entry]) -> Result<String, SiteError> {
    serde_json::to_string(entries).map_err(|error| SiteError::Index(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::of_guide;
    use guide::Guide;
    use guide::html::Document;

    #[test]
    fn sections_are_found_by_what_they_say() {
        let text = "+++\ntitle = \"T\"\ntarget = \"t\"\ndescription = \"D.\"\n+++\nAbove.\n\n## A {#x}\nWhy.\n```diff rule\n- a.b()\n+ c.d()\n```\n## B\nProse.\n\nRemedy: mend.\n\nSource: a.\n```says\nthe card … is lost\n```\n```says nothing\nall is well here\n```\n";
        let guide = Guide::parse("t.md", text).expect("it is right");
        let entries = of_guide(&guide, &Document::new(&guide, text));
        let shown: Vec<String> =
            entries.iter().map(|e| format!("{} | {} | {} | {:?}", e.group, e.to, e.title, e.text)).collect();
        assert_eq!(
            shown,
            [
                "Guides | guides/t/ | T | \"D.\\nAbove.\"",
                "Recipes | guides/t/#x | A | \"Why.\\na.b()\\nc.d()\"",
                "Guides | guides/t/#b | B | \"Prose.\\nRemedy: mend.\\nSource: a.\\nthe card … is lost\"",
            ]
        );
        assert_eq!(entries[2].says, ["the card … is lost"]);
    }
}
