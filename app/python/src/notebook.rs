//! Jupyter notebooks: the code cells of one as a program, and a changed program back in its cells.
//!
//! The program has a line `# %% [3]` above the code of the third cell (`# %% [3:2] %%time` if that begins in its second line),
//! and the calls to which IPython translates its own syntax (`!pip install x`, `%matplotlib inline`). What is not Python is
//! a call, too: a cell in another language (`%%bash`), which may not change, and statements that can't be read. Back in the
//! notebook, only the source of changed cells is written, in the file's own formatting, and lines that did not change are
//! the original's bytes.

mod json;
mod magics;
mod shell;

pub use shell::ShellLines;

use crate::lines::LineStarts;
use crate::readable::statement_end;
use crate::tree::{Id, Index, kinds};
use magics::{CELL_MAGIC, Magic, Quote};
use serde::{Deserialize, Serialize};
use sorting::SortedMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// How the line above the code of a cell begins. Editors know `# %%` as the start of a cell.
const HEADING: &str = "# %% [";

/// A notebook whose cells are Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notebook {
    json: String,
    /// Those with code.
    cells: Vec<Cell>,
    /// The quotes of calls that stand for other code.
    quote: Quote,
    /// The names of magics that run Python.
    runs_python: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    /// Its place among all cells, from 1.
    number: usize,
    /// Where its source is in the JSON.
    source: Range<usize>,
    /// The indentation of its first line, which IPython removes from all.
    indent: String,
    /// What stands above its code and is no code: the lines up to that of a magic that runs the rest as Python, such as
    /// `%%time`.
    head: String,
    code: String,
    magics: Vec<Magic>,
}

/// A place in a notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CellPlace {
    /// The cell, from 1, counted with those of text.
    pub cell: usize,
    /// The line in the cell, from 1.
    pub line: usize,
}

/// Why a text can't be read as a notebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotebookFault {
    /// It is not JSON, with the parser's reason, or not JSON of the notebook format.
    Json(String),
    /// It has an older format, in which cells are in worksheets.
    Older,
    /// Its cells are in this language.
    Language(String),
    /// It has no cell with code.
    NoCode,
}

impl Display for NotebookFault {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(why) => write!(to, "this is not a notebook: {why}"),
            Self::Older => write!(
                to,
                "this notebook has a format before version 4; convert it: jupyter nbconvert --to notebook --inplace"
            ),
            Self::Language(language) => write!(to, "this notebook is in {language}, not in Python"),
            Self::NoCode => write!(to, "this notebook has no cell with code"),
        }
    }
}

/// The first heading of a notebook's program that another one, made from it, lacks: where it is in the former.
#[must_use]
pub fn lost_heading(program: &str, changed: &str) -> Option<Range<usize>> {
    let mut left = changed.lines();
    let mut start = 0;
    program.split_inclusive('\n').find_map(|line| {
        let range = start..start + line.len();
        start = range.end;
        let is_lost = line.starts_with(HEADING) && !left.any(|other| other == line.trim_end());
        is_lost.then_some(range)
    })
}

/// The first cell of a notebook's program that is a call for one in another language, and other code in a program that was
/// made from it: where it is in the former, and in the latter.
#[must_use]
pub fn changed_magic(program: &str, changed: &str) -> Option<(Range<usize>, Range<usize>)> {
    let new: SortedMap<&str, Range<usize>> = codes(changed).into_iter().collect();
    codes(program).into_iter().find_map(|(heading, code)| {
        let now = new.get(heading)?;
        let text = &program[code.clone()];
        let is_fixed = text.starts_with(CELL_MAGIC) && statement_end(text) == text.len();
        (is_fixed && text != &changed[now.clone()]).then(|| (code, now.clone()))
    })
}

/// The headings of a program, and where the code below each is; code above the first one belongs to it.
fn codes(program: &str) -> Vec<(&str, Range<usize>)> {
    let mut found: Vec<(&str, Range<usize>)> = Vec::new();
    let mut start = 0;
    for line in program.split_inclusive('\n') {
        let end = start + line.len();
        if line.starts_with(HEADING) {
            // The heading itself is not code.
            let above = if found.is_empty() { 0 } else { start };
            found.push((line.trim_end(), if above == start { end..end } else { above..end }));
        } else if let Some((_, code)) = found.last_mut() {
            code.end = end;
        }
        start = end;
    }
    found
}

/// Whether a statement is the call of IPython for a cell in another language: nothing of a program belongs beside it.
#[must_use]
pub fn is_cell_magic(index: &Index<'_>, statement: Id) -> bool {
    index.kind(statement) == kinds().expression_statement && index.text_of(statement).starts_with(CELL_MAGIC)
}

/// Whether a text is clearly that of a notebook's file.
#[must_use]
pub fn is_text_of_notebook(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    text.starts_with('{') && text.ends_with('}') && (text.contains("\"cells\"") || text.contains("\"nbformat\""))
}

/// Whether a path is that of a notebook.
#[must_use]
pub fn is_notebook(path: &str) -> bool {
    path.ends_with(".ipynb")
}

/// The cells of the program of a notebook, or of one that was made from it.
#[derive(Debug)]
pub struct CellLines {
    /// The line of each heading, from 1, and where the code below it begins.
    headings: Vec<(usize, CellPlace)>,
}

impl CellLines {
    /// Finds the headings of a program.
    #[must_use]
    pub fn of(program: &str) -> Self {
        let heading = |(row, line): (usize, &str)| {
            let (place, _) = line.strip_prefix(HEADING)?.split_once(']')?;
            let (cell, line) = place.split_once(':').unwrap_or((place, "1"));
            Some((row + 1, CellPlace { cell: cell.parse().ok()?, line: line.parse().ok()? }))
        };
        Self { headings: program.lines().enumerate().filter_map(heading).collect() }
    }

    /// The cell with a line of the program, from 1. Code above the first heading belongs to the first cell.
    #[must_use]
    pub fn place(&self, line: usize) -> Option<CellPlace> {
        let after = self.headings.partition_point(|(heading, ..)| *heading <= line);
        let (heading, begins) = match after.checked_sub(1) {
            Some(last) => self.headings[last],
            None => self.headings.first().map(|(_, begins)| (0, *begins))?,
        };
        Some(CellPlace { cell: begins.cell, line: (begins.line + line - heading).saturating_sub(1).max(1) })
    }
}

/// The lines of a notebook's file that have the lines of its cells.
#[derive(Debug)]
pub struct FileLines(SortedMap<usize, Vec<usize>>);

impl FileLines {
    /// Those of a notebook.
    #[must_use]
    pub fn of(json: &str) -> Self {
        let starts = LineStarts::new(json);
        let lines = |source: json::Source| {
            let lines = json::lines(json, &source).into_iter().map(|at| starts.row(at).0 + 1);
            (source.number, lines.collect())
        };
        Self(json::sources(json).into_iter().flatten().map(lines).collect())
    }

    /// The line of the file, from 1, with a line of a cell.
    #[must_use]
    pub fn line(&self, place: CellPlace) -> Option<usize> {
        let lines = self.0.get(&place.cell)?;
        lines.get(place.line - 1).or(lines.last()).copied()
    }
}

impl Notebook {
    /// Reads the text of a notebook's file. `magics` are the names of magics that run their cell as Python (`time` for
    /// `%%time`).
    ///
    /// # Errors
    ///
    /// If the text is not a notebook in format 4 with Python in its cells.
    pub fn read(json: &str, magics: &[&str]) -> Result<Self, NotebookFault> {
        let mut cells = Vec::new();
        let sources = json::sources(json)?;
        let quote = Quote::of(sources.iter().map(|source| source.text.as_str()));
        for json::Source { number, range, text } in sources {
            let (indent, text) = dedented(&text);
            let (head, body) = magics::split_head(&text, magics);
            let (code, magics) = magics::to_python(body, quote);
            cells.push(Cell { number, source: range, indent, head: head.to_owned(), code, magics });
        }
        if cells.is_empty() {
            return Err(NotebookFault::NoCode);
        }
        let runs_python = magics.iter().map(|magic| (*magic).to_owned()).collect();
        Ok(Self { json: json.to_owned(), cells, quote, runs_python })
    }

    /// The text of its file.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Its cells with code as one program.
    #[must_use]
    pub fn program(&self) -> String {
        let cells = self.cells.iter();
        cells.map(|cell| format!("{}{}\n", cell.heading(), cell.code)).collect()
    }

    /// A program with calls for the statements that are not Python, on as many lines, so that the others can be read.
    /// [`Notebook::with_program`] turns them back.
    #[must_use]
    pub fn readable(&mut self, program: &str) -> String {
        let quote = self.quote;
        let mut out = String::new();
        for (heading, n, code) in self.parts(program) {
            let cell = &mut self.cells[n];
            let (code, end) = code.strip_suffix('\n').map_or((code.as_str(), ""), |code| (code, "\n"));
            let python = magics::with_statements(code, &mut cell.magics, &self.runs_python);
            let readable = magics::without_unreadable(python, &mut cell.magics, quote);
            out += &format!("{heading}{readable}{end}");
            if code == cell.code {
                cell.code = readable;
            }
        }
        out
    }

    /// Whether a comment of [`Notebook::readable`] stands for a magic.
    #[must_use]
    pub fn is_mark(&self, comment: &str) -> bool {
        self.cells.iter().flat_map(|cell| &cell.magics).any(|magic| magic.is_marked_by(comment))
    }

    /// The text of its file with the code of a program, which has the headings of [`Notebook::program`]. Code above the
    /// first one belongs to the first cell. A cell without its heading becomes empty: its code is in the one before.
    #[must_use]
    pub fn with_program(&self, program: &str) -> String {
        let mut out = String::new();
        let mut copied = 0;
        for (cell, code) in self.cells.iter().zip(self.split(program)) {
            let code = code.strip_suffix('\n').unwrap_or(&code);
            if code != cell.code {
                out.push_str(&self.json[copied..cell.source.start]);
                let source = cell.head.clone() + &magics::from_python(code, &cell.magics);
                let source = cell.indented(&source, &self.json);
                out.push_str(&json::rewritten(&self.json, cell.source.clone(), &source));
                copied = cell.source.end;
            }
        }
        out.push_str(&self.json[copied..]);
        out
    }

    /// The code of each cell in a program.
    fn split(&self, program: &str) -> Vec<String> {
        let mut codes = vec![String::new(); self.cells.len()];
        self.parts(program).into_iter().for_each(|(_, cell, code)| codes[cell].push_str(&code));
        codes
    }

    /// The parts of a program: a heading, empty for code above the first, the cell, and its code.
    fn parts<'p>(&self, program: &'p str) -> Vec<(&'p str, usize, String)> {
        let headings = self.cells.iter().enumerate().map(|(n, cell)| (cell.heading().trim_end().to_owned(), n));
        let headings: SortedMap<String, usize> = headings.collect();
        let mut parts: Vec<(&str, usize, String)> = Vec::new();
        for line in program.split_inclusive('\n') {
            let last = parts.iter().rev().find_map(|(heading, cell, _)| (!heading.is_empty()).then_some(*cell));
            match headings.get(line.trim_end()).filter(|n| last.is_none_or(|last| **n > last)) {
                Some(begun) => parts.push((line, *begun, String::new())),
                None if parts.is_empty() => parts.push(("", 0, line.to_owned())),
                None => parts.last_mut().into_iter().for_each(|(.., code)| code.push_str(line)),
            }
        }
        parts
    }
}

impl Cell {
    /// The line above its code in a program.
    fn heading(&self) -> String {
        let magics: Vec<&str> = self.head.lines().map(str::trim).filter(|line| line.starts_with("%%")).collect();
        match self.head.lines().count() {
            0 => format!("{HEADING}{}]\n", self.number),
            lines => format!("{HEADING}{}:{}] {}\n", self.number, lines + 1, magics.join(" ")),
        }
    }

    /// A source with the indentation that was removed; lines of the old one as they are there.
    fn indented(&self, source: &str, json: &str) -> String {
        let Self { indent, source: range, .. } = self;
        if indent.is_empty() {
            return source.to_owned();
        }
        let old = json::text(json, range.clone());
        let mut known: SortedMap<&str, Vec<&str>> = SortedMap::new();
        for line in old.split_inclusive('\n').rev() {
            known.entry(line.strip_prefix(indent.as_str()).unwrap_or(line)).or_default().push(line);
        }
        let line = |line: &str| match known.get_mut(line).and_then(Vec::pop) {
            Some(old) => old.to_owned(),
            None if line.trim().is_empty() => line.to_owned(),
            None => format!("{indent}{line}"),
        };
        source.split_inclusive('\n').map(line).collect()
    }
}

/// The indentation of a cell's first line, and the cell without it.
fn dedented(cell: &str) -> (String, String) {
    let first = cell.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let indent = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    let lines = cell.split_inclusive('\n').map(|line| line.strip_prefix(indent).unwrap_or(line));
    (indent.to_owned(), lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A notebook with these cells of code, each the text of its source in JSON, between two of text.
    fn notebook(sources: &[&str]) -> String {
        let cells: Vec<String> = sources
            .iter()
            .map(|source| {
                format!(
                    "  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"outputs\": [],\n   \"source\": {source}\n  }}"
                )
            })
            .collect();
        format!(
            "{{\n \"cells\": [\n  {{\"cell_type\": \"markdown\", \"source\": \"# Title\"}},\n{},\n  {{\"cell_type\": \
             \"markdown\", \"source\": []}}\n ],\n \"metadata\": {{}},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}}\n",
            cells.join(",\n")
        )
    }

    pub(super) fn read(sources: &[&str]) -> Notebook {
        Notebook::read(&notebook(sources), &["time"]).unwrap()
    }

    /// The program of a notebook, and its sources after a replacement in the program.
    #[track_caller]
    fn check(sources: &[&str], program: &str, (old, new): (&str, &str), expected: &[&str]) {
        let read = read(sources);
        assert_eq!(read.program(), program);
        assert_eq!(read.with_program(program), read.json());
        let changed = program.replace(old, new);
        assert_eq!(read.with_program(&changed), notebook(expected));
    }

    #[test]
    fn statements_that_are_no_python_come_back_as_they_were() {
        let json = notebook(&["[\n    \"x = 1\\n\",\n    \"pip install x\"\n   ]", "\"y = 2\""]);
        let mut read = Notebook::read(&json, &[]).unwrap();
        let program = read.program();
        assert!(program.contains("\npip install x\n"), "a reader sees what the cell has: {program}");
        let readable = read.readable(&program);
        assert!(readable.contains("\nget_ipython().run_cell('pip install x')\n"), "{readable}");
        assert_eq!(readable.lines().count(), program.lines().count());
        assert_eq!(read.with_program(&readable), json);
        // One that was typed, in the cell below.
        let edited = read.readable(&program.replace("y = 2", "cd folder\ny = 2"));
        assert!(edited.contains("\nget_ipython().run_cell('cd folder')\ny = 2\n"), "{edited}");
        let written = read.with_program(&edited);
        assert!(written.contains("\"cd folder\\ny = 2\"") && written.contains("\"pip install x\"\n"), "{written}");
    }

    #[test]
    fn a_changed_line_is_written_and_the_others_keep_their_bytes() {
        check(
            &[r#"["import torch\n", "x = 'caf\u00e9'\n", "d = 'cuda'"]"#, r#""y = 1\n""#],
            "# %% [2]\nimport torch\nx = 'café'\nd = 'cuda'\n# %% [3]\ny = 1\n\n",
            ("'cuda'", "'hpu'"),
            &[r#"["import torch\n", "x = 'caf\u00e9'\n", "d = 'hpu'"]"#, r#""y = 1\n""#],
        );
        check(
            &["[\n    \"a = 1\\n\",\n    \"b = 2\"\n   ]"],
            "# %% [2]\na = 1\nb = 2\n",
            ("b = 2", "b = 3\nc = \"é\""),
            &["[\n    \"a = 1\\n\",\n    \"b = 3\\n\",\n    \"c = \\\"é\\\"\"\n   ]"],
        );
        check(&[r#""a = 1""#], "# %% [2]\na = 1\n", ("a = 1\n", ""), &[r#""""#]);
        check(&[r#"["a = 1"]"#], "# %% [2]\na = 1\n", ("a = 1\n", ""), &["[]"]);
    }

    #[test]
    fn code_above_all_cells_is_the_first_ones() {
        check(&[r#"["a = 1"]"#], "# %% [2]\na = 1\n", ("# %%", "import b\n# %%"), &[r#"["import b\n","a = 1"]"#]);
    }

    #[test]
    fn syntax_of_ipython_comes_back_as_it_was() {
        check(
            &[
                r#"["%matplotlib inline\n", "if colab:\n", "    !pip install \\\n", "        a 'b'\n", "files = !ls\n", "net?"]"#,
                r#"["%%time\n", "run(device='cuda')"]"#,
                r#"["%%bash\n", "nvidia-smi"]"#,
            ],
            "# %% [2]\nget_ipython().run_line_magic('matplotlib', 'inline')\nif colab:\n    \
             get_ipython().system('pip install '\n'        a \\'b\\'')\nfiles = get_ipython().getoutput('ls')\n\
             get_ipython().run_line_magic('pinfo', 'net')\n# %% [3:2] %%time\nrun(device='cuda')\n# %% [4]\n\
             get_ipython().run_cell_magic('bash', '', 'nvidia-smi')\n",
            ("run(device='cuda')", "import h\nrun(device='hpu')"),
            &[
                r#"["%matplotlib inline\n", "if colab:\n", "    !pip install \\\n", "        a 'b'\n", "files = !ls\n", "net?"]"#,
                r#"["%%time\n", "import h\n", "run(device='hpu')"]"#,
                r#"["%%bash\n", "nvidia-smi"]"#,
            ],
        );
        check(
            &[r#"["if colab:\n", "  !pip install \\\n", "    a\n", "x = 'cuda'"]"#],
            "# %% [2]\nif colab:\n  get_ipython().system('pip install '\n'    a')\nx = 'cuda'\n",
            ("x = 'cuda'", "x = 'hpu'"),
            &[r#"["if colab:\n", "  !pip install \\\n", "    a\n", "x = 'hpu'"]"#],
        );
    }

    #[test]
    fn an_indented_cell_comes_back_as_it_was() {
        check(
            &[r#"["\n", "  x = 1\n", "  \n", "  if x:\n", "    !ls\n", "y\n"]"#],
            "# %% [2]\n\nx = 1\n\nif x:\n  get_ipython().system('ls')\ny\n\n",
            ("if x:\n", "z = 2\n\nif x:\n"),
            &[r#"["\n", "  x = 1\n", "  \n", "  z = 2\n", "\n", "  if x:\n", "    !ls\n", "y\n"]"#],
        );
    }

    #[test]
    fn a_comment_like_a_heading_is_not_one() {
        let cells = [r##""a\n# %% [3]\nb""##, r##""c""##];
        check(&cells, "# %% [2]\na\n#%% [3]\nb\n# %% [3]\nc\n", ("b", "d"), &[r##""a\n# %% [3]\nd""##, r##""c""##]);
    }

    #[test]
    fn a_cell_in_another_language_may_not_change() {
        let program = read(&[r#""%%bash\nls""#, r#""x""#, r#""%%bash\nls""#]).program();
        let check = |(old, new): (&str, &str), expected: Option<&str>| {
            let changed = program.replacen(old, new, 1);
            let found = changed_magic(&program, &changed).map(|(_, now)| changed[now].to_owned());
            assert_eq!(found.as_deref(), expected, "{changed}");
        };
        let call = "get_ipython().run_cell_magic('bash', '', 'ls')\n";
        check(("x\n", "y\nz\n"), None);
        check(("# %% [2]\n", "# %% [2]\nimport a\n"), Some(&format!("import a\n{call}")));
        check(("# %% [3]", "b\n# %% [3]"), Some(&format!("{call}b\n")));
        check(("'ls'", "'ld'"), Some(&call.replace("'ls'", "'ld'")));
        check(("# %% [2]", "import a\n# %% [2]"), Some(&format!("import a\n# %% [2]\n{call}")));
    }

    #[test]
    fn lines_of_the_file() {
        let json = notebook(&["[\n    \"a\\n\",\n    \"b\"\n   ]", r#""c\nd""#]);
        let lines = FileLines::of(&json);
        let check = |cell, line, text: &str| {
            let line = lines.line(CellPlace { cell, line }).unwrap();
            assert_eq!(json.lines().nth(line - 1).unwrap().trim(), text);
        };
        check(2, 1, "\"a\\n\",");
        check(2, 2, "\"b\"");
        check(3, 2, "\"source\": \"c\\nd\"");
        assert_eq!(lines.line(CellPlace { cell: 1, line: 1 }), None);
    }

    #[test]
    fn places_are_cells_and_their_lines() {
        let program = read(&[r#""a\n!b \\\n c\nd""#, r#""%%time\n\ne""#]).program();
        let cells = CellLines::of(&program);
        let place = |line| cells.place(line).map(|CellPlace { cell, line }| (cell, line)).unwrap();
        assert_eq!(program, "# %% [2]\na\nget_ipython().system('b '\n' c')\nd\n# %% [3:2] %%time\n\ne\n");
        assert_eq!((2..=5).map(place).collect::<Vec<_>>(), [(2, 1), (2, 2), (2, 3), (2, 4)]);
        assert_eq!((7..=8).map(place).collect::<Vec<_>>(), [(3, 2), (3, 3)]);
        let program = read(&[r##""#@title A\n\n%%time\nf()""##]).program();
        assert_eq!(program, "# %% [2:4] %%time\nf()\n");
        assert_eq!(CellLines::of(&program).place(2), Some(CellPlace { cell: 2, line: 4 }));
        assert_eq!(CellLines::of("import a\n# %% [2]\n").place(1), Some(CellPlace { cell: 2, line: 1 }));
    }

    #[test]
    fn without_its_heading_a_cell_is_a_part_of_the_one_before() {
        let read = read(&[r#""a""#, r#""b""#]);
        assert_eq!(lost_heading(&read.program(), "import c\n# %% [2]\na\nb\n"), Some(11..20));
        assert_eq!(lost_heading(&read.program(), &read.program().replace('a', "c\nd")), None);
        assert_eq!(read.with_program("# %% [2]\na\nb\n"), notebook(&[r#""a\nb""#, r#""""#]));
        assert_eq!(read.with_program("# %% [3]\na\nb\n"), notebook(&[r#""""#, r#""a\nb""#]));
    }

    #[test]
    fn what_is_no_notebook_of_python() {
        let check = |json: &str, said: &str| {
            let fault = Notebook::read(json, &[]).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        };
        check("", "not a notebook");
        check("{\"cells\": 3}", "not a notebook");
        check("{\"worksheets\": [], \"nbformat\": 3}", "before version 4");
        check(r#"{"cells": [], "nbformat": 4}"#, "no cell with code");
        let julia = r#"{"cells": [{"cell_type": "code", "source": "a"}], "metadata": {"kernelspec": {"language": "julia"}}, "nbformat": 4}"#;
        check(julia, "in julia");
    }
}
