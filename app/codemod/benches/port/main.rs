//! How long a port takes, compared with a parse of the same file: `cargo bench -p codemod --bench port`.
//!
//! The input is the fixture project's own source, with its files concatenated until it is long enough. A port here is
//! all of [`codemod::port`]: facts, every recipe of the target, rounds until nothing changes, residue and certificate.
//! The recipes are compiled once before, as in the page and the command.
//!
//! With `-- --peer-input FOLDER` it writes the inputs for timing other programs, and measures nothing.

mod peer_input;

use codemod::{Options, RecipeSet, Style, port};
use python::SourceFile;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The maximum time of a trainer's port, as a multiple of a parse's.
const RATIO: f64 = 3.0;

/// The maximum time of a port of 50,000 lines.
const LONG: Duration = Duration::from_secs(1);

/// The maximum ratio of the times if there are four times as many lines.
const GROWTH: f64 = 6.0;

/// The project, the trainer first.
const PIECES: [&str; 7] = [
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/torch_backend/trainer.py"),
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/torch_backend/distributed.py"),
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/core/base_trainer.py"),
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/config/run.py"),
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/config/mode.py"),
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/torch_backend/unet.py"),
    include_str!("../../../../tests/fixtures/projects/cristae/cristae/torch_backend/loss.py"),
];

/// Whole pieces until there are enough lines. A long file still has each import once, at its top.
fn trainer(lines: usize) -> String {
    let is_import = |line: &&str| line.starts_with("import ") || line.starts_with("from ");
    let mut text: Vec<&str> = Vec::new();
    for (number, piece) in PIECES.iter().cycle().enumerate() {
        if text.len() >= lines {
            break;
        }
        text.extend(piece.lines().filter(|line| number < PIECES.len() || !is_import(line)));
    }
    text.join("\n") + "\n"
}

/// The median of the runs that fit into three seconds, of one if it takes longer.
fn median(mut run: impl FnMut()) -> Duration {
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.is_empty() || (begin.elapsed() < Duration::from_secs(3) && times.len() < 300) {
        let start = Instant::now();
        run();
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

fn parse(text: &str) -> usize {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).expect("the grammar fits the library");
    parser.parse(text, None).map_or(0, |tree| tree.root_node().descendant_count())
}

fn main() -> std::io::Result<()> {
    let mut words = std::env::args();
    if words.any(|word| word == "--peer-input") {
        let folder = words.next().unwrap_or_else(|| ".".to_owned());
        return peer_input::write(folder.as_ref());
    }
    measure();
    measure_growth();
    Ok(())
}

/// A very large number of lines, each read once: comments at the end of a block.
fn measure_growth() {
    let recipes = RecipeSet::embedded();
    let options = Options { target: "hpu".to_owned(), style: Style::InPlace, ..Options::default() };
    let [short, long] = [10_000, 40_000].map(|lines| {
        let text = format!("def f():\n    net.cuda()\n{}", "    # why this is as it is\n".repeat(lines));
        let files = [SourceFile { path: "trainer.py".to_owned(), text }];
        median(|| drop(black_box(port(black_box(&files), recipes, &options))))
    });
    let growth = long.as_secs_f64() / short.as_secs_f64();
    let held = if growth <= GROWTH { "held" } else { "MISSED" };
    println!("40,000 lines of comments take {growth:.2} times 10,000, {long:.1?}  bar {GROWTH}: {held}");
}

fn measure() {
    let recipes = RecipeSet::embedded();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{:<34} {:>9} {:>9} {:>7} {:>6}  bar", "hpu, whole port", "parse ms", "port ms", "ratio", "edits");
    for (lines, style) in
        [(1_000, Style::Branch), (1_000, Style::InPlace), (50_000, Style::Branch), (50_000, Style::InPlace)]
    {
        let text = trainer(lines);
        let files = [SourceFile { path: "trainer.py".to_owned(), text }];
        let options = Options { target: "hpu".to_owned(), style, ..Options::default() };
        let mut edits = 0;
        let parse = median(|| {
            black_box(parse(black_box(&files[0].text)));
        });
        let whole = median(|| edits = black_box(port(black_box(&files), recipes, &options)).files[0].edits.len());
        let ratio = whole.as_secs_f64() / parse.as_secs_f64();
        let (bar, held) = match lines {
            1_000 => (format!("ratio {RATIO}"), ratio <= RATIO),
            _ => (format!("port {} ms", ms(LONG)), whole <= LONG),
        };
        println!(
            "{:<34} {:>9.3} {:>9.3} {ratio:>7.2} {edits:>6}  {bar}: {}",
            format!(
                "{} lines, {}",
                files[0].text.lines().count(),
                if style == Style::Branch { "branch" } else { "in place" }
            ),
            ms(parse),
            ms(whole),
            if held { "held" } else { "MISSED" },
        );
    }
}
