//! Examples of guides, each with its port options.

use crate::ported::{Options, SourceFile, Style};
use guide::{Case, Guide};

/// An example as a separate project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The input.
    pub file: SourceFile,
    /// Its purpose.
    pub options: Options,
}

/// Target, path, style, SDK, `unsafe`, option and text; unspecified ones are empty.
type Fields<'a> = [&'a str; 7];

/// Follows each field of a packed example. It does not occur in guides, which are text files.
const END: char = '\0';

impl Example {
    /// One run of the engine that a section shows.
    #[must_use]
    pub fn of(target: &str, case: &Case<'_>) -> Example {
        Example::of_fields(fields(target, case))
    }

    fn of_fields([target, path, style, sdk, is_unsafe, option, text]: Fields<'_>) -> Example {
        let mut options = Options {
            target: target.to_owned(),
            style: Style::named(style).unwrap_or(Style::InPlace),
            sdk: Some(sdk.to_owned()).filter(|sdk| !sdk.is_empty()),
            allow_unsafe: !is_unsafe.is_empty(),
            ..Options::default()
        };
        for (name, value) in option.split(' ').filter_map(|option| option.split_once('=')) {
            options.options.insert(name.to_owned(), value.to_owned());
        }
        Example { file: SourceFile { path: path.to_owned(), text: text.to_owned() }, options }
    }

    /// An example from [`pack_examples`]: the id of its section, and its number there, from 1.
    #[must_use]
    pub fn unpack(packed: &str, section: &str, number: usize) -> Option<Example> {
        let fields: Vec<&str> = packed.split(END).collect();
        let (examples, _) = fields.as_chunks::<8>();
        let mut of_section = examples.iter().filter(|[id, ..]| *id == section);
        let [_, fields @ ..] = *of_section.nth(number.checked_sub(1)?)?;
        Some(Example::of_fields(fields))
    }
}

fn fields<'a>(target: &'a str, case: &Case<'a>) -> Fields<'a> {
    let path = case.file.unwrap_or("example.py");
    let is_unsafe = if case.is_unsafe { "unsafe" } else { "" };
    let [style, sdk, option] = [case.style, case.sdk, case.option].map(Option::unwrap_or_default);
    [target, path, style, sdk, is_unsafe, option, &case.input.text]
}

/// The examples of a guide as a file that the site stores next to it, for the page to open them; empty for a guide
/// without examples.
#[must_use]
pub fn pack_examples(guide: &Guide) -> String {
    let mut packed = String::new();
    let Some(target) = &guide.front.target else { return packed };
    for section in &guide.sections {
        for case in section.cases() {
            for field in std::iter::once(&*section.id).chain(fields(target, &case)) {
                packed.push_str(field);
                packed.push(END);
            }
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_open_as_they_are_meant() {
        let guides = crate::embedded_guides();
        let guide = guides.iter().find(|guide| guide.name == "hpu").unwrap();
        let packed = pack_examples(guide);
        for section in &guide.sections {
            for (index, case) in section.cases().iter().enumerate() {
                let Some(example) = Example::unpack(&packed, &section.id, index + 1) else { panic!("{}", section.id) };
                assert_eq!(example.file.text, case.input.text);
                assert_eq!((&*example.options.target, example.options.allow_unsafe), ("hpu", case.is_unsafe));
                assert_eq!(example, Example::of("hpu", case));
            }
        }
        assert_eq!(Example::unpack(&packed, "none", 1), None);
        assert_eq!(Example::unpack(&packed, "model-to-device", 99), None);
        assert_eq!(Example::unpack("<h1>Not found</h1>", "model-to-device", 1), None);
        let prose =
            Guide::parse("guides/a.md", "+++\ntitle = \"A\"\ndescription = \"A page.\"\norder = 1\n+++\n## One\n");
        assert_eq!(pack_examples(&prose.unwrap()), "");
    }
}
