//! The lines of a notebook that IPython passes to a shell.

use super::magics::{from_python, magic_line};
use super::{CellPlace, Notebook};
use crate::readable::statement_end;

/// The commands of a notebook for a shell, as a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellLines {
    /// The script: `!command`, cells with `%%bash`, `%env` as `export`, `%cd`.
    pub script: String,
    /// The place of each of its lines.
    pub places: Vec<CellPlace>,
}

/// Magics that run the rest of their cell in a shell.
const SHELLS: [&str; 5] = ["%%bash", "%%sh", "%%!", "%%system", "%%sx"];

impl ShellLines {
    fn add(&mut self, cell: usize, first: usize, text: &str) {
        for (index, line) in text.lines().enumerate() {
            self.script += line;
            self.script.push('\n');
            self.places.push(CellPlace { cell, line: first + index });
        }
    }
}

impl Notebook {
    /// Its commands for a shell.
    #[must_use]
    pub fn shell_lines(&self) -> ShellLines {
        let mut lines = ShellLines::default();
        for cell in &self.cells {
            let above = cell.head.lines().count();
            let code = from_python(&cell.code, &cell.magics);
            let first = code.lines().position(|line| !line.trim().is_empty()).unwrap_or(0);
            let head = code.lines().nth(first).unwrap_or_default();
            if SHELLS.contains(&head.split_whitespace().next().unwrap_or_default()) {
                let rest = code.split_inclusive('\n').skip(first + 1).collect::<String>();
                lines.add(cell.number, above + first + 2, &rest);
                continue;
            }
            let (mut at, mut line) = (0, above + 1);
            while at < code.len() {
                let rest = &code[at..];
                let whole = magic_line(rest);
                let command = command(whole.trim());
                let length = if command.is_some() { whole.len() } else { statement_end(rest).max(1) };
                lines.add(cell.number, line, &command.unwrap_or_default());
                line += rest[..length].matches('\n').count();
                at += length;
            }
        }
        lines
    }
}

/// The command in a statement of IPython, if it has one.
fn command(statement: &str) -> Option<String> {
    if let Some(command) = statement.strip_prefix("!!").or_else(|| statement.strip_prefix('!')) {
        return Some(command.trim_start().to_owned());
    }
    if let Some(magic) = statement.strip_prefix('%') {
        let (name, rest) = magic.split_once(char::is_whitespace)?;
        let rest = rest.trim();
        return match name {
            "env" | "set_env" => {
                let (variable, value) = rest.split_once('=').or_else(|| rest.split_once(char::is_whitespace))?;
                Some(format!("export {}='{}'", variable.trim(), value.trim().replace('\'', "'\\''")))
            }
            "cd" => Some(format!("cd {rest}")),
            "system" | "sx" => Some(rest.to_owned()),
            "pip" | "conda" | "mamba" => Some(format!("{name} {rest}")),
            _ => None,
        };
    }
    let (target, value) = statement.split_once('=')?;
    let is_name = target.trim().chars().all(|c| c.is_alphanumeric() || "_.,".contains(c) || c == ' ');
    value.trim_start().strip_prefix('!').filter(|command| is_name && !command.starts_with('=')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[track_caller]
    fn check(sources: &[&str], expected: &[&str]) {
        let lines = read(sources).shell_lines();
        let shown: Vec<String> = lines
            .script
            .lines()
            .zip(&lines.places)
            .map(|(line, place)| format!("{}:{} {line}", place.cell, place.line))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn commands_and_their_places() {
        check(
            &[
                r#""import os\n!nvidia-smi -L\nif x:\n    !torchrun \\\n      t.py\n""#,
                r#""%%bash\nsrun a\nb""#,
                r#""%%time\n\n%env A=b c\nfiles = !ls\na != b\ns = '''\n!no\n'''\n%cd x""#,
            ],
            &[
                "2:2 nvidia-smi -L",
                "2:4 torchrun \\",
                "2:5       t.py",
                "3:2 srun a",
                "3:3 b",
                "4:3 export A='b c'",
                "4:4 ls",
                "4:9 cd x",
            ],
        );
        check(&[r#""a = 1\n%matplotlib inline""#], &[]);
    }
}
