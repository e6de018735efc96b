//! One port of a file or a project, and all its required properties.

use crate::cpython::{CPython, Mention, Said};
use crate::faults::{Fault, Kind};
use crate::patches::Changed;
use codemod::{Options, Ported, PortedFile, RecipeSet, Severity, SourceFile, Style, port};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

/// Files that are ported together, with the results about them and their ports so far: most targets produce the same texts,
/// so CPython is queried once for each.
pub struct Subject {
    /// One file, or those of a project.
    pub files: Vec<SourceFile>,
    /// CPython's answers about the originals, in their order; none for a file that is no Python by its name.
    originals: Vec<Option<Said>>,
    texts: HashMap<(usize, String), Rc<Said>>,
    /// Ports that differ from the originals.
    pub changed: Vec<Changed>,
}

impl Subject {
    /// A text that is not ported yet, with CPython's answer about it.
    pub fn new(path: &str, text: &str, original: Said) -> Self {
        Self::project(vec![(SourceFile { path: path.to_owned(), text: text.to_owned() }, Some(original))])
    }

    /// The same for a project.
    pub fn project(files: Vec<(SourceFile, Option<Said>)>) -> Self {
        let (files, originals) = files.into_iter().unzip();
        Self { files, originals, texts: HashMap::new(), changed: Vec::new() }
    }

    /// Whether one of its files gives something of its own a name, as a mention says it, or is called so itself.
    fn gives_name(&self, name: &str) -> bool {
        let module = name.strip_prefix("variable ").or_else(|| name.strip_prefix("attribute "));
        let is_module = |part: &str| Some(part.strip_suffix(".py").unwrap_or(part)) == module;
        self.originals.iter().flatten().any(|said| said.own.iter().any(|own| own == name))
            || self.files.iter().any(|file| file.path.split('/').any(is_module))
    }

    /// Whether CPython compiles all of it.
    pub fn is_python(&self) -> bool {
        self.originals.iter().flatten().all(|said| said.refused.is_none())
    }
}

/// The findings for one port.
#[derive(Default)]
pub struct Seen {
    /// The style that was used, never `auto`.
    pub style: Style,
    /// Whether the port differs from the original.
    pub changed: bool,
    /// Whether the engine parsed the file and finished.
    pub ported: bool,
    /// The time of the port.
    pub milliseconds: f64,
    /// Properties that it lacks.
    pub faults: Vec<Fault>,
    /// Places that only mention CUDA.
    pub mentions: Mentions,
    /// Places of every kind.
    pub places: Mentions,
}

/// How many places of a port use or mention CUDA, and how many of these were neither edited nor reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// All that the scan finds.
    pub all: usize,
    /// Those of which the port says nothing.
    pub unreported: usize,
}

impl Mentions {
    /// Adds those of another file or port.
    pub fn add(&mut self, other: Self) {
        self.all += other.all;
        self.unreported += other.unreported;
    }
}

impl Seen {
    fn not_examined(&mut self, said: &Said) {
        let fault = |why: &String| Fault::new(Kind::NotExamined, without_numbers(why), why.clone());
        self.faults.extend(said.failed.as_ref().map(fault));
    }

    /// A port that did not end.
    pub fn broken(fault: Fault) -> Self {
        Self { faults: vec![fault], ..Self::default() }
    }
}

/// The name of a style in jobs and tables.
pub fn name_of(style: Style) -> &'static str {
    style.name().unwrap_or("auto")
}

/// Ports a file or a project and checks the port.
pub fn examine(subject: &mut Subject, recipes: &RecipeSet, options: &Options, cpython: &mut CPython) -> Seen {
    let start = Instant::now();
    let ported = port(&subject.files, recipes, options);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let own: Vec<&PortedFile> = ported.files.iter().filter(|file| !file.is_new).collect();
    if own.len() != subject.files.len() {
        return Seen::broken(Fault::new(Kind::LostBytes, "no file", "the port gave another number of files"));
    }
    let mut seen = Seen { style: ported.style, milliseconds, ported: true, ..Seen::default() };
    for (n, file) in own.iter().enumerate() {
        let first = seen.faults.len();
        of_file(subject, (n, file), &ported, &options.target, cpython, &mut seen);
        if own.len() > 1 {
            seen.faults[first..].iter_mut().for_each(|fault| fault.detail = format!("{}: {}", file.path, fault.detail));
        }
    }
    let Ported { files, certificate, style, .. } = &ported;
    if !certificate.untouched_bytes_equal {
        seen.faults.push(Fault::new(Kind::LostBytes, "certificate", "the certificate says that bytes were lost"));
    }
    let texts = || own.iter().enumerate().filter(|(_, file)| file.changed).map(|(n, file)| (n, file.text.clone()));
    seen.changed = texts().next().is_some();
    if seen.changed {
        let style = name_of(*style);
        subject.changed.push(Changed { target: options.target.clone(), style, texts: texts().collect() });
        if !certificate.comments_kept {
            seen.faults.push(Fault::new(Kind::LostComment, "certificate", "a comment on code that is kept"));
        }
        let source = |file: &PortedFile| SourceFile { path: file.path.clone(), text: file.text.clone() };
        let once: Vec<SourceFile> = files.iter().map(source).collect();
        let again = port(&once, recipes, options);
        let others = again.files.iter().zip(&once).filter(|(again, once)| again.text != once.text);
        seen.faults.extend(others.map(|(again, _)| {
            let recipe = again.edits.first().map_or("", |edit| edit.recipe.as_str());
            Fault::new(Kind::SecondPort, recipe, format!("{}: {recipe} changes the port again", again.path))
        }));
    }
    seen
}

/// What is to be checked of one file of a port.
fn of_file(
    subject: &mut Subject,
    (n, file): (usize, &PortedFile),
    ported: &Ported,
    target: &str,
    cpython: &mut CPython,
    seen: &mut Seen,
) {
    let before = &subject.files[n].text;
    seen.faults.extend(bytes_kept(before, file));
    let Some(original) = &subject.originals[n] else { return };
    seen.not_examined(original);
    let error = file.diagnostics.iter().find(|d| d.severity == Severity::Error);
    seen.ported &= error.is_none();
    if let Some(error) = error.filter(|_| original.refused.is_none()) {
        let detail = format!("line {}: {}", error.original.line, error.message);
        seen.faults.push(Fault::new(Kind::Refused, error.recipe.clone(), detail));
    }
    let said = file.changed.then(|| {
        let look = || {
            let said = cpython.look_at_port(before, file);
            Rc::new(said.unwrap_or_else(|fault| Said { refused: Some(fault), ..Said::default() }))
        };
        Rc::clone(subject.texts.entry((n, file.text.clone())).or_insert_with(look))
    });
    if let Some(said) = &said {
        if let (None, Some(why)) = (&original.refused, &said.refused) {
            seen.faults.push(Fault::new(Kind::DoesNotParse, without_numbers(why), why.clone()));
        }
        seen.not_examined(said);
        if let Some(detail) = &said.other_tree {
            seen.faults.push(Fault::new(Kind::OtherTree, without_numbers(detail), detail.clone()));
        }
        seen.faults.extend(comment_lost(original, said, file));
    }
    // Code of other modes is kept, and only the engine knows which lines these are.
    if ported.style == Style::InPlace && error.is_none() {
        let mentions = said.as_ref().map_or(&original.mentions, |said| &said.mentions);
        let own = |one: &&Mention| subject.gives_name(&one.text);
        let mentions: Vec<&Mention> = mentions.iter().filter(|one| !own(one)).collect();
        let (words, places) = residue_missed(before, file, target, &mentions, &mut seen.faults);
        seen.mentions.add(words);
        seen.places.add(places);
    }
}

/// Applying the edits to the original gives the port, and new lines have the file's line ending.
pub fn bytes_kept(before: &str, file: &PortedFile) -> Option<Fault> {
    let lost = |class: &str, detail: String| Some(Fault::new(Kind::LostBytes, class, detail));
    let (mut text, mut at) = (String::new(), 0);
    for edit in &file.edits {
        let between = before.get(at..edit.start).filter(|_| edit.start <= edit.end);
        let Some(between) = between else { return lost("order", format!("the edits overlap at byte {}", edit.start)) };
        text.push_str(between);
        text.push_str(&edit.text);
        at = edit.end;
    }
    text.push_str(before.get(at..).unwrap_or_default());
    if text != file.text {
        return lost("edits", "the edits do not lead to the ported text".to_owned());
    }
    if (file.text != *before) != file.changed {
        return lost("changed", "`changed` is wrong".to_owned());
    }
    if before.starts_with('\u{feff}') != file.text.starts_with('\u{feff}') {
        return lost("mark", "the byte order mark".to_owned());
    }
    if !before.is_empty() && before.ends_with('\n') != file.text.ends_with('\n') {
        return lost("end", "the newline at the end".to_owned());
    }
    // For a file with mixed line endings, the correct ending of new lines is unknown.
    let ends = |text: &str| {
        let both = text.matches("\r\n").count();
        (both, text.matches('\n').count() - both, text.matches('\r').count() - both)
    };
    let (old, new) = (ends(before), ends(&file.text));
    let brought = [(old.0, new.0), (old.1, new.1), (old.2, new.2)];
    let kinds = brought.iter().filter(|(old, _)| *old > 0).count();
    if kinds == 1 && brought.iter().any(|(old, new)| *old == 0 && *new > 0) {
        return lost("line ends", "a line ends otherwise than the file's lines".to_owned());
    }
    None
}

/// A comment of the original that is missing from the port and that no edit names, or that an edit names wrongly.
pub fn comment_lost(original: &Said, ported: &Said, file: &PortedFile) -> Option<Fault> {
    let (Some(before), Some(after)) = (&original.comments, &ported.comments) else { return None };
    let told: Vec<&str> =
        file.edits.iter().flat_map(|edit| &edit.comments_removed).map(|comment| comment.text.as_str()).collect();
    let count = |all: &[String], one: &str| {
        all.partition_point(|comment| comment.as_str() <= one) - all.partition_point(|comment| comment.as_str() < one)
    };
    let told_of = |one: &str| told.iter().filter(|comment| **comment == one).count();
    let fault = |class: &str, one: &str| Some(Fault::new(Kind::LostComment, class, one));
    if let Some(lost) = before.iter().find(|one| count(after, one) + told_of(one) < count(before, one)) {
        return fault("lost", lost);
    }
    let kept = told.iter().find(|one| count(after, one) + told_of(one) > count(before, one));
    kept.and_then(|kept| fault("named, but kept", kept))
}

/// Places that use CUDA on lines that the port neither edited nor reported, one of each class; how many only mention it,
/// and how many there are of every kind.
fn residue_missed(
    before: &str,
    file: &PortedFile,
    target: &str,
    mentions: &[&Mention],
    faults: &mut Vec<Fault>,
) -> (Mentions, Mentions) {
    let mut told: Vec<(usize, usize)> = Vec::new();
    let line_at = |text: &str, at: usize| text[..at].matches('\n').count() + 1;
    let mut shift = 0_isize;
    for edit in &file.edits {
        let start = edit.start.saturating_add_signed(shift);
        let end = start + edit.text.len();
        shift += edit.text.len() as isize - (edit.end - edit.start) as isize;
        if file.text.is_char_boundary(start) && file.text.is_char_boundary(end) {
            told.push((line_at(&file.text, start), line_at(&file.text, end)));
        }
    }
    for d in &file.diagnostics {
        told.push((d.ported.line, d.ported.end_line));
        if !file.changed {
            told.push((d.original.line, d.original.end_line));
        }
        // One note for unused code: `line 9 (engine#residue), line 12 (…)`, lines of the original.
        for line in d.message.split("line ").skip(1).filter(|_| d.recipe == "engine#unused") {
            let Some(line) = line.split(' ').next().and_then(|number| number.parse::<usize>().ok()) else { continue };
            let at: usize = before.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let breaks = |text: &str| text.matches('\n').count();
            let above = file.edits.iter().filter(|edit| edit.end <= at);
            let (new, old) = above.fold((0, 0), |(new, old), edit| {
                (new + breaks(&edit.text), old + breaks(&before[edit.start..edit.end]))
            });
            told.push((line + new - old, line + new - old));
        }
    }
    let (mut counts, mut places) = (Mentions::default(), Mentions::default());
    let of_others = faults.len();
    // A package's own files import it, and PyTorch's are asked for its version.
    let is_own = |mention: &&&Mention| {
        let name = mention.text.strip_prefix("module ").or_else(|| mention.text.strip_prefix("name "));
        let package = name.and_then(|name| name.trim_start_matches("getattr(").split(['.', ',']).next());
        package.is_some_and(|package| file.path.split('/').any(|folder| folder == package))
    };
    for Mention { kind, lines: (first, last), text, beside, others } in mentions.iter().filter(|one| !is_own(one)) {
        // Code for CUDA is kept where the program chooses between it and code for the target.
        if beside.iter().any(|device| device == target) {
            continue;
        }
        let class = format!("{kind} {text}");
        let is_told_at = |(first, last): &(usize, usize)| told.iter().any(|(from, to)| first <= to && from <= last);
        let is_told = is_told_at(&(*first, *last)) || others.iter().any(is_told_at);
        let kind = match kind.as_str() {
            "mention" => Kind::Word,
            "foreign" | "spelled" => Kind::Foreign,
            _ => Kind::Residue,
        };
        counts.all += usize::from(kind == Kind::Word);
        counts.unreported += usize::from(kind == Kind::Word && !is_told);
        places.all += 1;
        places.unreported += usize::from(!is_told);
        if !is_told && !faults[of_others..].iter().any(|fault| fault.class == class) {
            let line = file.text.lines().nth(first - 1).unwrap_or_default().trim();
            faults.push(Fault::new(kind, class, format!("line {first}: `{line}`")));
        }
    }
    (counts, places)
}

/// A message without the parts that differ from file to file.
fn without_numbers(message: &str) -> String {
    let end = message.find(" (").unwrap_or(message.len());
    message[..end].chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use codemod::{Applicability, Edit, RemovedComment};

    /// A port that replaces one range.
    fn ported(before: &str, (start, end, text): (usize, usize, &str)) -> PortedFile {
        let edit = Edit {
            id: String::new(),
            recipe: String::new(),
            applicability: Applicability::Safe,
            start,
            end,
            text: text.to_owned(),
            comments_removed: Vec::new(),
        };
        let text = format!("{}{text}{}", &before[..start], &before[end..]);
        PortedFile {
            path: "a.py".into(),
            changed: text != before,
            text,
            edits: vec![edit],
            diagnostics: Vec::new(),
            notebook: None,
            is_new: false,
        }
    }

    #[test]
    fn lost_bytes_are_found() {
        let class = |before: &str, file: &PortedFile| bytes_kept(before, file).map(|fault| fault.class);
        let file = ported("a\r\nb\r\n", (0, 1, "c\r\nd"));
        assert_eq!(class("a\r\nb\r\n", &file), None);
        assert_eq!(class("a\r\nB\r\n", &file).as_deref(), Some("edits"));
        assert_eq!(class("a\r\nb\r\n", &ported("a\r\nb\r\n", (0, 1, "c\nd"))).as_deref(), Some("line ends"));
        assert_eq!(class("a\nb\n", &ported("a\nb\n", (3, 4, ""))).as_deref(), Some("end"));
        assert_eq!(class("\u{feff}a\n", &ported("\u{feff}a\n", (0, 3, ""))).as_deref(), Some("mark"));
        assert_eq!(
            class("a\n", &PortedFile { changed: false, ..ported("a\n", (0, 1, "b")) }).as_deref(),
            Some("changed")
        );
    }

    #[test]
    fn a_lost_comment_is_found() {
        let said = |comments: &[&str]| Said {
            comments: Some(comments.iter().map(|comment| (*comment).to_owned()).collect()),
            ..Said::default()
        };
        let check = |before: &[&str], after: &[&str], told: &[&str], class: Option<&str>| {
            let mut file = ported("x", (0, 1, ""));
            let comment = |text: &&str| RemovedComment { line: 1, cell: None, text: (*text).to_owned() };
            file.edits[0].comments_removed = told.iter().map(comment).collect();
            let fault = comment_lost(&said(before), &said(after), &file);
            assert_eq!(fault.map(|fault| fault.class).as_deref(), class);
        };
        check(&["# a", "# b"], &["# a", "# b", "# c"], &[], None);
        check(&["# a", "# a"], &["# a"], &[], Some("lost"));
        check(&["# a", "# a"], &["# a"], &["# a"], None);
        check(&["# a", "# a # a"], &["# a # a"], &["# a # a"], Some("lost"));
        check(&["# a"], &["# a"], &["# a"], Some("named, but kept"));
    }

    #[test]
    fn residue_is_missed_only_where_nothing_was_done() {
        let mention = |line: usize, beside: &[&str]| Mention {
            kind: "call".into(),
            lines: (line, line),
            text: ".cuda()".into(),
            beside: beside.iter().map(|device| (*device).to_owned()).collect(),
            others: Vec::new(),
        };
        let before = "a\nb.cuda()\nc.cuda()\n";
        let file = ported(before, (2, 3, "d\nb"));
        let missed = |one: Mention| {
            let mut faults = Vec::new();
            let (words, places) = residue_missed(before, &file, "hpu", &[&one], &mut faults);
            assert_eq!(words.unreported, faults.iter().filter(|fault| fault.kind == Kind::Word).count());
            assert_eq!(places.unreported, faults.len());
            faults.pop()
        };
        assert_eq!(missed(mention(3, &[])), None);
        let missed = |one| missed(one).map(|fault| (fault.kind, fault.detail));
        assert_eq!(missed(mention(4, &["xpu"])), Some((Kind::Residue, "line 4: `c.cuda()`".to_owned())));
        assert_eq!(missed(mention(4, &["hpu"])), None);
    }
}
