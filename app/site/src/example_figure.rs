//! A section's examples as figures: the engine's result for each and, if it depends on the SDK, for each version.

use crate::{badge, figure};
use codemod::{Example, PortedFile, RecipeSet, TargetInfo, port};
use guide::html::escape;
use guide::{Case, Guide, Section};

/// The context in which examples are shown.
pub(crate) struct Examples<'a> {
    guide: &'a Guide,
    recipes: &'a RecipeSet,
    target: &'a str,
    /// The target's SDK versions, oldest first.
    sdks: Vec<String>,
}

/// An example's port, and the versions with this result.
struct Variant<'a> {
    sdks: Vec<&'a str>,
    file: PortedFile,
}

impl<'a> Examples<'a> {
    /// The examples of a guide. `targets` are those of the port.
    pub(crate) fn new(guide: &'a Guide, recipes: &'a RecipeSet, targets: &[TargetInfo]) -> Examples<'a> {
        let target = guide.front.target.as_ref().unwrap_or(&guide.name);
        let sdks = targets.iter().find(|offered| offered.id == *target).map(|offered| offered.sdks.clone());
        Examples { guide, recipes, target, sdks: sdks.unwrap_or_default() }
    }

    /// The figure of each example, with the line of the fence that it replaces.
    pub(crate) fn of_section(&self, section: &Section) -> Vec<(usize, String)> {
        // Results that are already in one example's tabs are not repeated.
        let mut shown: Vec<Case<'_>> = Vec::new();
        let mut figures = Vec::new();
        for (index, case) in section.cases().into_iter().enumerate() {
            let line = case.after.unwrap_or(case.input).line;
            let place = Place { section, number: index + 1 };
            if shown.iter().any(|earlier| is_of_another_version(&case, earlier)) {
                figures.push((line, String::new()));
                continue;
            }
            let variants = self.variants(section, &case);
            if variants.len() > 1 {
                figures.push((line, self.tabs(&place, &case, &variants)));
                shown.push(case);
            } else {
                figures.push((line, self.alone(&place, &case)));
            }
        }
        figures
    }

    fn port(&self, case: &Case<'_>, sdk: Option<&str>) -> Option<PortedFile> {
        let Example { file, mut options } = Example::of(self.target, case);
        if let Some(sdk) = sdk {
            options.sdk = Some(sdk.to_string());
        }
        port(&[file], self.recipes, &options).files.into_iter().next()
    }

    /// An example's ports by version; none if this section's recipe treats all versions alike.
    fn variants(&self, section: &Section, case: &Case<'_>) -> Vec<Variant<'_>> {
        let told_apart = section.rules.iter().any(|rule| rule.sdk.is_some()) || case.sdk.is_some();
        if !told_apart || case.after.is_none() {
            return Vec::new();
        }
        let own = self.recipe(section);
        let mut variants: Vec<Variant<'_>> = Vec::new();
        let mut does = Vec::new();
        for sdk in &self.sdks {
            let Some(file) = self.port(case, Some(sdk)) else { return Vec::new() };
            let edits = file.edits.iter().filter(|edit| edit.recipe == own).map(|edit| edit.text.clone());
            let says = file.diagnostics.iter().filter(|found| found.recipe == own).map(|found| found.message.clone());
            let here: Vec<String> = edits.chain(says).collect();
            if !does.contains(&here) {
                does.push(here);
            }
            let shown = |file: &PortedFile| (file.text.clone(), self.remarks(section, file));
            let same = |known: &&mut Variant<'_>| shown(&known.file) == shown(&file);
            match variants.iter_mut().find(same) {
                Some(known) => known.sdks.push(sdk),
                None => variants.push(Variant { sdks: vec![sdk], file }),
            }
        }
        if does.len() > 1 { variants } else { Vec::new() }
    }

    /// One tab per version. The initial one is the example's own version, otherwise the newest.
    fn tabs(&self, place: &Place<'_>, case: &Case<'_>, variants: &[Variant<'_>]) -> String {
        let own = case.sdk.or(self.sdks.last().map(String::as_str)).unwrap_or_default();
        let mut html = format!("<div data-tabs=\"sdk-{}\">\n", self.target);
        for Variant { sdks, file } in variants {
            let is_first = sdks.contains(&own);
            html += &format!(
                "<section data-for=\"{}\"{}>{}</section>\n",
                sdks.join(" "),
                if is_first { " data-first" } else { "" },
                self.figure(place, case, file, &format!("SDK {}", sdks.join(", ")), is_first)
            );
        }
        html + "</div>\n"
    }

    fn alone(&self, place: &Place<'_>, case: &Case<'_>) -> String {
        let Some(file) = self.port(case, None) else { return figure::code(&case.input.language, &case.input.text) };
        if !file.changed && self.remarks(place.section, &file).is_empty() {
            // Code that a recipe neither changes nor reports is more useful as a test than to readers.
            let attempt = place.attempt(self.guide);
            return format!("<p class=\"source\"><a {attempt}>Unchanged: example {}</a></p>\n", place.number);
        }
        let sdk = case.sdk.map(|sdk| format!("SDK {sdk}")).unwrap_or_default();
        self.figure(place, case, &file, &sdk, true)
    }

    /// An example's port; `is_first` means that no other figure has shown the example before.
    fn figure(&self, place: &Place<'_>, case: &Case<'_>, file: &PortedFile, sdk: &str, is_first: bool) -> String {
        let (language, text) = (&case.input.language, &case.input.text);
        let mut words = vec![escape(&file.path)];
        words.extend(case.style.map(|style| badge::style_name(style).to_string()));
        words.extend(Some(sdk.to_string()).filter(|sdk| !sdk.is_empty()));
        let options = case.option.into_iter().flat_map(|options| options.split(' '));
        words.extend(
            options.filter_map(|option| option.split_once('=')).map(|(name, value)| format!("{name}: {value}")),
        );
        words.extend(case.is_unsafe.then(|| "with unsafe edits".to_string()));
        let shown = match file.changed {
            true => figure::difference(language, text, &file.text, None),
            false => {
                words.push("stays as it is".to_string());
                // The first tab already shows the code.
                if is_first { figure::code(language, text) } else { String::new() }
            }
        };
        let attempt = match is_first {
            true => format!("<a class=\"try\" {}>Try it</a>", place.attempt(self.guide)),
            false => String::new(),
        };
        format!(
            "<figure class=\"code\"><figcaption><span>{}</span>{attempt}</figcaption>\n{shown}{}</figure>\n",
            words.join(" · "),
            self.remarks(place.section, file)
        )
    }

    /// The messages of the section's own recipe about a port.
    fn remarks(&self, section: &Section, file: &PortedFile) -> String {
        let own = self.recipe(section);
        figure::remarks(file.diagnostics.iter().filter(|found| found.recipe == own), &section.reason)
    }

    fn recipe(&self, section: &Section) -> String {
        format!("{}#{}", self.guide.name, section.id)
    }
}

/// An example of a section.
struct Place<'a> {
    section: &'a Section,
    number: usize,
}

impl Place<'_> {
    /// The link that opens it on the Port page.
    fn attempt(&self, guide: &Guide) -> String {
        format!("href=\"../../port/#example={}/{}/{}\"", guide.name, self.section.id, self.number)
    }
}

/// Whether two examples differ only in the SDK.
fn is_of_another_version(case: &Case<'_>, other: &Case<'_>) -> bool {
    let of = |case: &Case<'_>| {
        let [file, style, option] = [case.file, case.style, case.option].map(|word| word.map(str::to_string));
        (case.input.text.clone(), file, style, option, case.is_unsafe)
    };
    of(case) == of(other)
}
