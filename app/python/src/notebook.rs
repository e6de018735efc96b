//! Jupyter notebooks: the code cells of one as a program, and a changed program back in its cells.
//!
//! The program has a line `# %% [3]` above the code of the third cell, and the calls to which IPython translates its own
//! syntax (`!pip install x`, `%matplotlib inline`). Back in the notebook, only the source of changed cells is written, in
//! the file's own formatting, and lines that did not change are the original's bytes.

mod json;
mod magics;
mod shell;

pub use shell::ShellLines;

use magics::{Magic, Quote};
use serde::{Deserialize, Serialize};
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
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    /// Its place among all cells, from 1.
    number: usize,
    /// Where its source is in the JSON.
    source: Range<usize>,
    /// What stands above its code and is no code: the line of a magic that runs the rest as Python, such as `%%time`.
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
    /// A comment in it is what stands above the code of another cell.
    Heading(String),
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
            Self::Heading(comment) => {
                write!(to, "a comment in this notebook, `{comment}`, looks like the start of another cell; change it")
            }
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

/// Whether a path is that of a notebook.
#[must_use]
pub fn is_notebook(path: &str) -> bool {
    path.ends_with(".ipynb")
}

/// The cells of the program of a notebook, or of one that was made from it.
#[derive(Debug)]
pub struct CellLines {
    /// The line of each heading, from 1, and the number of its cell and of the lines above its code.
    headings: Vec<(usize, usize, usize)>,
}

impl CellLines {
    /// Finds the headings of a program.
    #[must_use]
    pub fn of(program: &str) -> Self {
        let heading = |(row, line): (usize, &str)| {
            let (number, head) = line.strip_prefix(HEADING)?.split_once(']')?;
            Some((row + 1, number.parse().ok()?, usize::from(!head.trim().is_empty())))
        };
        Self { headings: program.lines().enumerate().filter_map(heading).collect() }
    }

    /// The cell with a line of the program, from 1. Code above the first heading belongs to the first cell.
    #[must_use]
    pub fn place(&self, line: usize) -> Option<CellPlace> {
        let after = self.headings.partition_point(|(heading, ..)| *heading <= line);
        let (heading, cell, head) = match after.checked_sub(1) {
            Some(last) => self.headings[last],
            None => self.headings.first().map(|(_, cell, head)| (0, *cell, *head))?,
        };
        Some(CellPlace { cell, line: (line - heading + head).max(1) })
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
            let (head, body) = magics::split_head(&text, magics);
            let (code, magics) = magics::to_python(body, quote);
            cells.push(Cell { number, source: range, head: head.to_owned(), code, magics });
        }
        if cells.is_empty() {
            return Err(NotebookFault::NoCode);
        }
        let is_heading = |line: &&str| cells.iter().any(|cell| cell.heading().trim_end() == line.trim_end());
        let lines = cells.iter().flat_map(|cell| cell.code.lines());
        match lines.filter(|line| line.starts_with(HEADING)).find(is_heading) {
            Some(comment) => Err(NotebookFault::Heading(comment.to_owned())),
            None => Ok(Self { json: json.to_owned(), cells }),
        }
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
        let mut at = None;
        for line in program.split_inclusive('\n') {
            let next = at.map_or(0, |at| at + 1);
            let begun = self.cells[next..].iter().position(|cell| cell.heading().trim_end() == line.trim_end());
            match begun {
                Some(further) => at = Some(next + further),
                None => codes[at.unwrap_or(0)].push_str(line),
            }
        }
        codes
    }
}

impl Cell {
    /// The line above its code in a program.
    fn heading(&self) -> String {
        let head = self.head.trim();
        format!("{HEADING}{}]{}{head}\n", self.number, if head.is_empty() { "" } else { " " })
    }
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
             get_ipython().run_line_magic('pinfo', 'net')\n# %% [3] %%time\nrun(device='cuda')\n# %% [4]\n\
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
    fn places_are_cells_and_their_lines() {
        let program = read(&[r#""a\n!b \\\n c\nd""#, r#""%%time\n\ne""#]).program();
        let cells = CellLines::of(&program);
        let place = |line| cells.place(line).map(|CellPlace { cell, line }| (cell, line)).unwrap();
        assert_eq!(program, "# %% [2]\na\nget_ipython().system('b '\n' c')\nd\n# %% [3] %%time\n\ne\n");
        assert_eq!((2..=5).map(place).collect::<Vec<_>>(), [(2, 1), (2, 2), (2, 3), (2, 4)]);
        assert_eq!((7..=8).map(place).collect::<Vec<_>>(), [(3, 2), (3, 3)]);
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
        let cell = |code: &str| format!(r#"{{"cell_type": "code", "source": "{code}"}}"#);
        let comment = format!(r#"{{"cells": [{}, {}], "nbformat": 4}}"#, cell("a\\n# %% [2]\\nb"), cell("c"));
        check(&comment, "`# %% [2]`, looks like the start of another cell");
        let julia = r#"{"cells": [{"cell_type": "code", "source": "a"}], "metadata": {"kernelspec": {"language": "julia"}}, "nbformat": 4}"#;
        check(julia, "in julia");
    }
}
