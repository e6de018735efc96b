//! The worker's state: the project and its last port, from which it answers the page's requests.

mod recipes;
mod unblock;

use crate::port::protocol::{
    Answer, Ask, Catalogue, Checked, EditNote, FileOutcome, Outcome, Overview, Parcel, Shown, Stop, Table, TableRow,
};
use crate::port::state::GUIDES_FOLDER;
use crate::port::state::project::{self, Kind};
use crate::port::twin_result;
use ::launch::Twin;
use ::launch::form::Fields;
use codemod::{
    Diagnostic, Edit, Explanation, FileDiff, Ledger, Matrix, MatrixRow, OptionKind, Options, Ported, PortedFile,
    PortedProject, RecipeSet, TargetInfo, Totals, TwinCommands, Views, diff_texts, git_patch_of, git_patch_of_new,
    report_json,
};
use python::notebook::Notebook;
use python::{Highlight, SourceFile, Trees, is_python};
use recipes::Recipes;
use sorting::SortedMap;
use std::rc::Rc;
use training::words::NOTEBOOK_MAGICS;
use training::{FileView, TargetFacts};

/// The data that the worker keeps between requests.
#[derive(Default)]
pub struct Desk {
    files: Vec<SourceFile>,
    /// The notebooks among them, by path.
    notebooks: SortedMap<String, Notebook>,
    port: Option<Port>,
    matrix: Matrix,
    recipes: Recipes,
}

struct Port {
    result: Ported,
    ledgers: Vec<Ledger>,
    /// The parts of a launch that can be derived from the ported project.
    launch: Fields,
    /// The commands for a twin run.
    twin: Option<TwinCommands>,
    diffs: Vec<FileDiff>,
    overview: Option<Overview>,
    /// The texts that were ported; the files may have changed since.
    sources: Vec<SourceFile>,
}

impl Desk {
    /// Answers a request.
    pub fn answer(&mut self, ask: Parcel<Ask>) -> Parcel<Answer> {
        match ask.head {
            Ask::Catalogue(paths) => {
                let (added, faults) = self.recipes.compile(&paths, &ask.texts);
                let recipes = self.recipes.set();
                let labels = ::launch::Target::all().map(|target| (target.name().into(), target.label().into()));
                let (targets, recipes) = (recipes.targets(), recipes.recipes());
                head(Answer::Catalogue(Catalogue { targets, labels: labels.collect(), recipes, added, faults }))
            }
            Ask::Files(paths) => {
                let mut texts = ask.texts;
                let notebooks = texts.split_off(paths.len().min(texts.len()));
                let of_notebooks = paths.iter().filter(|(_, is_notebook)| *is_notebook).zip(notebooks);
                self.notebooks = of_notebooks
                    .filter_map(|((path, _), json)| Some((path.clone(), Notebook::read(&json, NOTEBOOK_MAGICS).ok()?)))
                    .collect();
                let files = paths.into_iter().zip(texts);
                self.files =
                    files.map(|((path, _), text)| SourceFile { text: self.readable(&path, text), path }).collect();
                head(Answer::Taken)
            }
            Ask::Text(index) => {
                if let (Some(path), Some(text)) =
                    (self.files.get(index).map(|file| file.path.clone()), ask.texts.into_iter().next())
                {
                    self.files[index].text = self.readable(&path, text);
                }
                head(Answer::Taken)
            }
            Ask::Port { options, show } => {
                self.port(&options);
                let shown = self.shown(show);
                let outcome = self.port.as_ref().map(outcome).expect("a port was just made");
                under(shown, |shown| Answer::Ported(Box::new(outcome), shown))
            }
            Ask::Show(index) => under(self.shown(index), Answer::Shown),
            Ask::Matrix { options, column } => self.column(&options, column),
            Ask::Rows(rows) => self.matrix(rows),
            Ask::Try { options, option } => head(Answer::Tried(self.matters(options, option))),
            Ask::Unblock { options, attempt } => head(self.unblock(&options, attempt)),
            Ask::Patch => self.written(|port| self.patch(port, ask.texts)),
            Ask::Report => self.written(|port| report(port, &self.recipes.set())),
            Ask::Texts => self.texts(),
            Ask::TextOf(index) => self.written(|port| {
                port.result.files.get(index).map_or_else(String::new, |file| file.written().to_owned())
            }),
            Ask::TwinFiles => self.twin_files(),
            Ask::Twin => {
                let text = ask.texts.into_iter().next().unwrap_or_default();
                head(Answer::Twin(twin_result::read(&text).map(Box::new)))
            }
            Ask::Explain(options) => {
                let log = ask.texts.into_iter().next().unwrap_or_default();
                head(Answer::Explained(Box::new(self.explain(&log, &options))))
            }
        }
    }

    /// The answers for the chosen target or, if it has none, for another one.
    fn explain(&self, log: &str, options: &Options) -> Explanation {
        let set = self.recipes.set();
        let recipes = &*set;
        let all = Options { rejected_recipes: Vec::new(), rejected_edits: Vec::new(), ..options.clone() };
        let port = self.port.as_ref().filter(|port| port.result.target == options.target);
        let unrejected = port.filter(|_| all != *options).map(|port| codemod::port(&port.sources, recipes, &all));
        let project = port.map(|port| PortedProject {
            files: &port.sources,
            ported: &port.result,
            unrejected: unrejected.as_ref(),
        });
        let guides = self.recipes.guides();
        let mut found = codemod::explain(log, guides, Some(&options.target), project);
        if found.candidates.is_empty() {
            found.candidates = codemod::explain(log, guides, None, None).candidates;
        }
        found
    }

    fn port(&mut self, options: &Options) {
        let set = self.recipes.set();
        let recipes = &*set;
        let trees = Trees::default();
        let (mut result, views) = codemod::port_with_views(&self.files, recipes, options, &trees);
        result.put_back(&self.notebooks);
        let pairs = self.files.iter().zip(&result.files);
        let diffs = pairs.map(|(source, file)| match file.changed {
            true => diff_texts(&source.text, &file.text, &file.edits),
            false => unchanged(&source.text),
        });
        let diffs = diffs.collect();
        let ledgers = codemod::ledgers(&views, &result.target, recipes);
        let overview = codemod::overview(&result, recipes).map(|outline| overview(&outline, &result));
        let launch = launch(&result, &views, &recipes.target_facts(&result.target));
        let twin = twin_commands(&result, &launch, options, self.recipes.are_added());
        self.port = Some(Port { result, ledgers, launch, twin, diffs, overview, sources: self.files.clone() });
    }

    /// Adds a column to the table of targets. A request that skips one gets the current table.
    fn column(&mut self, options: &Options, column: usize) -> Parcel<Answer> {
        let set = self.recipes.set();
        let recipes = &*set;
        if column == 0 {
            self.matrix = Matrix::default();
        }
        if let Some(target) = recipes.targets().get(column).filter(|_| self.matrix.targets.len() == column) {
            self.matrix.add(&self.files, recipes, &options_for(target, options));
        }
        self.matrix(FIRST_ROWS)
    }

    fn matrix(&mut self, rows: usize) -> Parcel<Answer> {
        let (done, total) = (self.matrix.targets.len(), self.recipes.set().targets().len());
        let table = (done == total).then(|| Box::new(table(&self.matrix, rows)));
        head(Answer::Matrix(done, total, table))
    }

    /// Whether another value of an option gives a port that differs from the last one.
    fn matters(&self, options: Options, option: usize) -> bool {
        let Some(port) = &self.port else { return false };
        let set = self.recipes.set();
        let recipes = &*set;
        let targets = recipes.targets();
        let target = targets.iter().find(|target| target.id == options.target);
        let Some(asked) = target.and_then(|target| target.options.get(option)) else { return false };
        let now = port.result.options.get(&asked.name).map_or("", String::as_str);
        let others = match &asked.kind {
            OptionKind::OneOf(values) => values.iter().filter(|value| *value != now).cloned().collect(),
            OptionKind::Number => vec![(now.parse::<u64>().unwrap_or(1) + 1).to_string()],
            OptionKind::Shapes => vec![if now == "1" { "2" } else { "1" }.to_owned()],
        };
        others.into_iter().any(|value| {
            let mut options = options.clone();
            options.options.insert(asked.name.clone(), value);
            let other = codemod::port(&self.files, recipes, &options);
            let pairs = || port.result.files.iter().zip(&other.files);
            pairs().any(|(one, other)| one.text != other.text || one.diagnostics != other.diagnostics)
        })
    }

    fn shown(&self, index: usize) -> Parcel<Shown> {
        let Some(port) = &self.port else { return Parcel::default() };
        let (Some(source), Some(file), Some(diff)) =
            (port.sources.get(index), port.result.files.get(index), port.diffs.get(index))
        else {
            return Parcel::default();
        };
        let colours =
            |text: &str| if is_python(&source.path) { Highlight::python(text) } else { Highlight::plain(text) };
        let mut parcel = Parcel { head: Shown { index, diff: diff.clone() }, ..Parcel::default() };
        let old = colours(&source.text);
        parcel.colours.extend([old.spans, old.lines]);
        if file.changed {
            let new = colours(&file.text);
            parcel.texts.push(file.text.clone());
            parcel.colours.extend([new.spans, new.lines]);
        }
        parcel
    }

    fn written(&self, write: impl FnOnce(&Port) -> String) -> Parcel<Answer> {
        Parcel { texts: vec![self.port.as_ref().map(write).unwrap_or_default()], ..head(Answer::Written) }
    }

    fn twin_files(&mut self) -> Parcel<Answer> {
        let Some(port) = &self.port else { return head(Answer::TwinFiles(Vec::new())) };
        let sources = port.sources.iter().map(|source| self.content(&source.path, &source.text));
        let pairs = sources.chain(std::iter::repeat(String::new())).zip(&port.result.files);
        let both = pairs.flat_map(|(source, file)| [source, file.written().to_owned()]);
        let texts = std::iter::once(report(port, &self.recipes.set())).chain(both).collect();
        let paths = port.result.files.iter().map(|file| file.path.clone()).collect();
        Parcel { texts, ..head(Answer::TwinFiles(paths)) }
    }

    fn texts(&self) -> Parcel<Answer> {
        let files = || self.port.iter().flat_map(|port| &port.result.files);
        let paths = files().map(|file| file.path.clone()).collect();
        Parcel { texts: files().map(|file| file.written().to_owned()).collect(), ..head(Answer::Texts(paths)) }
    }

    /// The patch of a port, from these texts if they are not those that were ported.
    fn patch(&self, port: &Port, bases: Vec<String>) -> String {
        let files = from(&port.sources, bases).into_iter().zip(&port.result.files);
        let changed =
            files.map(|(base, file)| git_patch_of(&file.path, &self.content(&base.path, &base.text), file.written()));
        changed.chain(port.result.new_files().map(|file| git_patch_of_new(&file.path, &file.text))).collect()
    }

    /// What a file contains if this is its text.
    fn content(&self, path: &str, text: &str) -> String {
        let Some(mut notebook) = self.notebooks.get(path).cloned() else { return text.to_owned() };
        let program = notebook.readable(text);
        notebook.with_program(&program)
    }

    /// A text as it is ported: of a notebook's program, every statement as Python.
    fn readable(&mut self, path: &str, text: String) -> String {
        match self.notebooks.get_mut(path) {
            Some(notebook) => notebook.readable(&text),
            None => text,
        }
    }
}

/// The files with the texts on which a patch is based, if those are different.
fn from(sources: &[SourceFile], bases: Vec<String>) -> Vec<SourceFile> {
    let mut files = sources.to_vec();
    files.iter_mut().zip(bases).for_each(|(file, base)| file.text = base);
    files
}

/// The report as the command writes it.
fn report(port: &Port, recipes: &RecipeSet) -> String {
    let texts = port.sources.iter().map(|source| source.text.as_str()).chain(std::iter::repeat(""));
    let texts = texts.zip(&port.result.files);
    let totals = Totals::of(&port.result.target, texts, recipes);
    let result = with_reported_configuration(&port.result);
    report_json(&result, recipes, &port.ledgers, port.twin.as_ref(), &totals)
}

fn twin_commands(ported: &Ported, launch: &Fields, options: &Options, has_guides: bool) -> Option<TwinCommands> {
    let twin = Twin::read(&ported.target, launch)?;
    let is_own = |file: &&PortedFile| !file.is_new && project::kind(&file.path) != Kind::Configuration;
    let one_file = ported.files.iter().filter(is_own).count() == 1;
    let guides = ["--guides", GUIDES_FOLDER].into_iter().filter(|_| has_guides).map(str::to_owned);
    let words = options.words().map(|words| words.into_iter().chain(guides).collect::<Vec<_>>());
    let portolan = words.map(|words| twin.command(&words, one_file));
    Some(TwinCommands { portolan, kit: twin.kit_command(&format!("portolan-{}.json", ported.target)) })
}

/// The port as the command reports it.
fn with_reported_configuration(ported: &Ported) -> Ported {
    let mut ported = ported.clone();
    ported.keep_reported(&|path| project::kind(path) == Kind::Configuration);
    ported
}

/// The user's options that apply to this target, as if it were selected.
fn options_for(target: &TargetInfo, options: &Options) -> Options {
    let mut options = options.clone();
    let has = |name: &String, value: &String| target.options.iter().any(|o| o.name == *name && o.kind.admits(value));
    options.options.retain(|name, value| has(name, value));
    options.sdk = options.sdk.filter(|sdk| target.sdks.contains(sdk));
    options.target.clone_from(&target.id);
    options
}

fn head(answer: Answer) -> Parcel<Answer> {
    Parcel { head: answer, texts: Vec::new(), colours: Vec::new() }
}

/// An answer with a file to show.
fn under(parcel: Parcel<Shown>, answer: impl FnOnce(Box<Shown>) -> Answer) -> Parcel<Answer> {
    Parcel { head: answer(Box::new(parcel.head)), texts: parcel.texts, colours: parcel.colours }
}

fn unchanged(text: &str) -> FileDiff {
    let lines = text.split_inclusive('\n').count() as u32;
    FileDiff { old_lines: lines, new_lines: lines, hunks: Vec::new() }
}

fn outcome(port: &Port) -> Outcome {
    let note = |file: &PortedFile| {
        let notes = file.edits.iter().map(|e| EditNote {
            id: e.id.clone(),
            recipe: e.recipe.clone(),
            applicability: e.applicability,
            start: e.start,
            comments_removed: e.comments_removed.clone(),
        });
        notes.collect()
    };
    let file = |(file, diff): (&PortedFile, &FileDiff)| {
        let mut diagnostics: Vec<Diagnostic> = file.diagnostics.clone();
        let place = |d: &Diagnostic| (d.ported.line, d.ported.column);
        sorting::by_key(&mut diagnostics, place);
        // Two strings in a line may have the same message.
        diagnostics.dedup_by(|a, b| a.ported.line == b.ported.line && a.recipe == b.recipe && a.message == b.message);
        FileOutcome {
            path: file.path.clone(),
            changed: file.changed,
            hunks: diff.changes(),
            parts: parts(diff, &file.edits),
            edits: note(file),
            diagnostics,
        }
    };
    let fields = port.launch.clone();
    let program = fields.get("entry").and_then(|entry| port.result.files.iter().position(|file| file.path == *entry));
    Outcome {
        target: port.result.target.clone(),
        style: port.result.style,
        files: port.result.files.iter().zip(&port.diffs).map(file).collect(),
        new_files: port.result.new_files().map(|file| file.path.clone()).collect(),
        residue: port.result.certificate.residue.clone(),
        ledgers: port.ledgers.clone(),
        program,
        launch: crate::shared::launch_link::write(&fields),
        twin: port.twin.clone(),
        certificate: Some(Checked { sdk: port.result.sdk.clone(), certificate: port.result.certificate.clone() }),
        overview: port.overview.clone(),
    }
}

/// The number of changes to which each recipe contributed: a change may consist of several edits, and of several
/// recipes.
fn parts(diff: &FileDiff, edits: &[Edit]) -> Vec<(String, usize)> {
    let mut parts: Vec<(String, usize)> = Vec::new();
    let mut near = 0;
    for hunk in &diff.hunks {
        let mut here: Vec<&str> = Vec::new();
        for id in &hunk.edits {
            // Hunks list their edits in file order, so the next edit is close to the last one.
            let found = (near..edits.len()).chain(0..near).find(|at| edits[*at].id == *id);
            let Some(edit) = found.map(|at| &edits[at]).filter(|edit| !here.contains(&edit.recipe.as_str())) else {
                continue;
            };
            near = found.unwrap_or(near);
            here.push(&edit.recipe);
            match parts.iter_mut().find(|(recipe, _)| *recipe == edit.recipe) {
                Some((_, changes)) => *changes += 1,
                None => parts.push((edit.recipe.clone(), 1)),
            }
        }
    }
    parts
}

fn overview(outline: &codemod::Overview<'_>, ported: &Ported) -> Overview {
    let stop = |(file, diagnostic): &(usize, &Diagnostic)| Stop {
        file: *file,
        path: ported.files[*file].path.clone(),
        line: diagnostic.ported.line,
        original: diagnostic.original.line,
        message: diagnostic.message.clone(),
    };
    Overview { stops: outline.stops.iter().map(stop).collect(), done: outline.done.clone(), left: outline.left.clone() }
}

/// The initial number of rows, and the number added at a time: as many as a page can lay out without a pause.
pub const FIRST_ROWS: usize = 150;

/// The maximum number of characters of a line of code in a row.
const WIDEST: usize = 120;

/// The first rows of a table of targets.
fn table(matrix: &Matrix, rows: usize) -> Table {
    let sums = |totals: &Totals| [totals.all.done, totals.all.to_do, totals.all.not_possible];
    let row = |row: &MatrixRow| {
        let mut text: String = row.text.chars().take(WIDEST).collect();
        if text.len() < row.text.len() {
            text.push('…');
        }
        TableRow { file: row.file, path: row.path.clone(), line: row.line, text, cells: row.cells.clone() }
    };
    Table {
        targets: matrix.targets.clone(),
        sums: matrix.totals.iter().map(sums).collect(),
        rows: matrix.rows.iter().take(rows).map(row).collect(),
        total: matrix.rows.len(),
    }
}

/// The fields of a launch that can be derived from the ported project.
fn launch(ported: &Ported, views: &Views<'_>, target: &TargetFacts) -> Fields {
    let file = |file: &PortedFile| SourceFile { path: file.path.clone(), text: file.text.clone() };
    let others: Vec<SourceFile> = ported.files.iter().filter(|file| !python::is_python(&file.path)).map(file).collect();
    let views: Vec<&FileView<'_>> = views.after.iter().map(Rc::as_ref).collect();
    let facts = training::run_facts_of_views(&views, &others, target);
    let options = &target.options;
    let program = facts.programs.first();
    // Collecting into a map would add the library's sort to the module.
    let mut fields = Fields::new();
    fields.insert("target".to_owned(), ported.target.clone());
    let Some(target) = ::launch::Target::named(&ported.target) else { return fields };
    for (option, value) in &ported.options {
        let carried = options.iter().find(|own| own.name == *option).and_then(|own| own.launch.as_deref());
        let field = carried.or_else(|| Some(option.as_str()).filter(|name| target.has_field(name)));
        // A missing field means off, or one.
        if let Some(field) = field.filter(|_| !matches!(value.as_str(), "off" | "1")) {
            fields.insert(field.to_owned(), value.clone());
        }
    }
    let read = program.map(|program| program.launch_fields(&target.program_terms())).unwrap_or_default();
    // The meaning of variables depends on the release.
    if target.has_field("sdk") && program.is_some() {
        fields.insert("sdk".to_owned(), ported.sdk.clone());
    }
    fields.extend(read.into_iter().map(|(name, value)| (name.to_owned(), value)));
    if let Some((file, stop)) = program.and_then(|program| codemod::unported(ported, &program.files)) {
        fields.insert("unported".to_owned(), format!("{}:{}", ported.files[file].path, stop.ported.line));
    }
    fields
}

#[cfg(test)]
mod tests;
