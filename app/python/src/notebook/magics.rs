//! IPython's own syntax, and the calls of Python to which IPython translates it.
//!
//! See "IPython.core.inputtransformer2": a statement that begins with `%`, `!` or `?`, that ends in `?`, or that assigns
//! `%…` or `!…`; and a cell that begins with `%%`.

use crate::readable::statement_end;

/// A statement of IPython.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Magic {
    /// The call, without indentation.
    python: String,
    /// The same as it is in the notebook, without the indentation of its first line and the last line's end.
    written: String,
}

/// The lines above the code of a cell, and its code: the former end with `%%name …` if that runs the cell as Python.
pub(super) fn split_head<'c>(cell: &'c str, runs_python: &[&str]) -> (&'c str, &'c str) {
    let start = cell.len() - cell.trim_start().len();
    let end = cell[start..].find('\n').map_or(cell.len(), |n| start + n + 1);
    let is_head = cell[start..end].strip_prefix("%%").is_some_and(|rest| runs_python.contains(&word(rest)));
    cell.split_at(if is_head { end } else { 0 })
}

/// A cell's code with calls for the syntax of IPython, and these.
pub(super) fn to_python(code: &str, quote: Quote) -> (String, Vec<Magic>) {
    if let Some(magic) = code.trim_start().strip_prefix("%%").filter(|rest| !word(rest).is_empty()) {
        let (line, body) = magic.split_once('\n').unwrap_or((magic, ""));
        let (name, rest) = named(line);
        let python = format!(
            "get_ipython().run_cell_magic({}, {}, {})",
            quote.quoted(name),
            quote.quoted(rest),
            quote.quoted(body)
        );
        return (python.clone(), vec![Magic { python, written: code.to_owned() }]);
    }
    let (mut out, mut magics) = (String::new(), Vec::new());
    let mut at = 0;
    while at < code.len() {
        let line = &code[at..];
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let whole = magic_line(line);
        if let Some(python) = call(whole[indent..].trim_end(), quote) {
            let end = if whole.ends_with('\n') { "\n" } else { "" };
            let written = whole[indent..].strip_suffix('\n').unwrap_or(&whole[indent..]).to_owned();
            out += &format!("{}{python}{end}", &line[..indent]);
            magics.push(Magic { python, written });
            at += whole.len();
        } else {
            let end = statement_end(line);
            out.push_str(&line[..end]);
            at += end;
        }
    }
    (out, magics)
}

/// A cell's code with the syntax of IPython in place of these calls.
pub(super) fn from_python(code: &str, magics: &[Magic]) -> String {
    let mut left: Vec<&Magic> = magics.iter().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < code.len() {
        let line = code[at..].find('\n').map_or(code.len(), |n| at + n + 1);
        let statement = code[at..].trim_start_matches([' ', '\t']);
        let ends = |rest: &str| rest.is_empty() || rest.starts_with('\n');
        let found = left.iter().position(|magic| statement.strip_prefix(magic.python.as_str()).is_some_and(ends));
        let start = code.len() - statement.len();
        if let Some(n) = found {
            let Magic { python, written } = left.remove(n);
            out += &code[at..start];
            out += written;
            at = start + python.len();
            out += &code[at..(at + 1).min(code.len())];
            at += 1;
        } else {
            out += &code[at..line];
            at = line;
        }
    }
    out
}

/// The call for a statement of IPython; none for one of Python.
fn call(statement: &str, quote: Quote) -> Option<String> {
    if let Some(command) = statement.strip_prefix("!!") {
        return Some(format!("get_ipython().getoutput({})", quote.quoted(command)));
    }
    if let Some(command) = statement.strip_prefix('!') {
        return Some(format!("get_ipython().system({})", quote.quoted(command)));
    }
    if let Some(magic) = statement.strip_prefix('%').filter(|rest| !word(rest).is_empty()) {
        let (name, rest) = named(magic);
        return Some(format!("get_ipython().run_line_magic({}, {})", quote.quoted(name), quote.quoted(rest)));
    }
    if let Some(help) = help(statement, quote) {
        return Some(help);
    }
    // No expression of Python begins in this way.
    let (target, value) = statement.split_once('=')?;
    let (target, value) = (target.trim_end(), value.trim_start());
    if target.is_empty() || target.contains(['#', '"', '\'', '(']) {
        return None;
    }
    if let Some(command) = value.strip_prefix('!') {
        return Some(format!("{target} = get_ipython().getoutput({})", quote.quoted(command)));
    }
    let (name, rest) = named(value.strip_prefix('%').filter(|rest| !word(rest).is_empty())?);
    Some(format!("{target} = get_ipython().run_line_magic({}, {})", quote.quoted(name), quote.quoted(rest)))
}

/// The call for `name?`, `name??` or `?name`.
fn help(statement: &str, quote: Quote) -> Option<String> {
    let name = statement.trim_matches('?');
    let marks = statement.len() - name.len();
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| is_of_name(c) || ".*%".contains(c));
    let magic = if statement.contains("??") { "pinfo2" } else { "pinfo" };
    (marks > 0 && is_name)
        .then(|| format!("get_ipython().run_line_magic({}, {})", quote.quoted(magic), quote.quoted(name)))
}

/// The name of a magic and what follows it.
fn named(magic: &str) -> (&str, &str) {
    let (name, rest) = magic.split_at(magic.find(char::is_whitespace).unwrap_or(magic.len()));
    (name, rest.trim())
}

/// The name at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

/// Whether a character may be in a name; of those that are not ASCII, any.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

/// The text up to the end of a line that does not end in a backslash.
pub(super) fn magic_line(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\r', '\n']).ends_with('\\') {
            break;
        }
    }
    &text[..end]
}

/// The quotes of strings in calls. A port writes strings as most of a program are written.
#[derive(Clone, Copy)]
pub(super) struct Quote(char);

impl Quote {
    /// Those of most strings in these texts.
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let count = |quote: char| texts.clone().map(|text| text.matches(quote).count()).sum::<usize>();
        Self(if count('"') > count('\'') { '"' } else { '\'' })
    }

    /// A text as a string of Python. Lines that a backslash continues are strings in lines of their own.
    fn quoted(self, text: &str) -> String {
        let Self(quote) = self;
        let escaped = |line: &str| {
            line.replace('\\', "\\\\").replace(quote, &format!("\\{quote}")).replace('\n', "\\n").replace('\t', "\\t")
        };
        let lines: Vec<String> = text.split("\\\n").map(|line| format!("{quote}{}{quote}", escaped(line))).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of Python for a cell, whose calls come back as they were written.
    #[track_caller]
    fn check(cell: &str, python: &str) {
        let (code, magics) = to_python(cell, Quote('\''));
        assert_eq!(code, python);
        assert_eq!(from_python(&code, &magics), cell);
    }

    #[test]
    fn statements_of_ipython_are_calls() {
        check("!ls\n!!ls -l", "get_ipython().system('ls')\nget_ipython().getoutput('ls -l')");
        check("%env A=1\n% time f()", "get_ipython().run_line_magic('env', 'A=1')\n% time f()");
        check("a, b = %timeit -o f()", "a, b = get_ipython().run_line_magic('timeit', '-o f()')");
        check("torch.nn?\n?a\nb??", {
            "get_ipython().run_line_magic('pinfo', 'torch.nn')\nget_ipython().run_line_magic('pinfo', 'a')\n\
             get_ipython().run_line_magic('pinfo2', 'b')"
        });
        check("\n%%html a\n<b>\n", "get_ipython().run_cell_magic('html', 'a', '<b>\\n')");
    }

    #[test]
    fn python_is_left_alone() {
        for code in [
            "x = (a\n     % b)\n",
            "x = a \\\n    % b\n",
            "s = \"\"\"\n!ls\n%time\n\"\"\"\n",
            "x == !y",
            "f(\n    a,  # it's\n    b)\n",
            "s = 'a=!b'\n",
            "ok = a != b\n",
        ] {
            check(code, code);
        }
    }
}
