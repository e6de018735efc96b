//! IPython's own syntax, and the calls of Python to which IPython translates it.
//!
//! See "IPython.core.inputtransformer2": a statement that begins with `%`, `!` or `?`, that ends in `?`, or that assigns
//! `%…` or `!…`; and a cell that begins with `%%`.

use super::HEADING;
use crate::readable::{code, statement_end};
use crate::tree::Tree;
use sorting::SortedMap;

/// Code of a notebook that stands for other code in its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Magic {
    /// In the program: mostly a call, without indentation.
    python: String,
    /// The call that stands for it in [`Notebook::program`](super::Notebook::program).
    call: String,
    /// The same as it is in the notebook, without the indentation of its first line and the last line's end.
    written: String,
    /// What stands before a statement of Python in the notebook and, as a comment, behind it in the program: `%time`.
    mark: Option<String>,
}

impl Magic {
    fn called(call: String, written: String) -> Self {
        Self { python: call.clone(), call, written, mark: None }
    }

    pub(super) fn is_marked_by(&self, text: &str) -> bool {
        self.mark.as_ref().is_some_and(|mark| comment(mark).trim_start() == text)
    }
}

/// How the call for a cell in another language begins.
pub(super) const CELL_MAGIC: &str = "get_ipython().run_cell_magic(";

/// The lines above the code of a cell, and its code: the former end with `%%name …` if that runs the cell as Python.
pub(super) fn split_head<'c>(cell: &'c str, runs_python: &[&str]) -> (&'c str, &'c str) {
    let mut end = 0;
    // `%%capture` may run a cell that begins with `%%time`.
    while let Some((start, line)) = magic_of_cell(&cell[end..])
        && runs_python.contains(&word(&line.trim_start()[2..]))
    {
        end += start + line.len();
    }
    cell.split_at(end)
}

/// The line with the magic of a cell, and where it begins. Comments may be above it.
fn magic_of_cell(cell: &str) -> Option<(usize, &str)> {
    let mut start = 0;
    let begins = cell.split_inclusive('\n').find_map(|line| {
        let at = start;
        start += line.len();
        let own = line.trim();
        (!own.is_empty() && !own.starts_with('#')).then_some((at, line))
    });
    begins.filter(|(_, line)| line.trim_start().strip_prefix("%%").is_some_and(|rest| !word(rest).is_empty()))
}

/// A cell's code with calls for the syntax of IPython, and these.
pub(super) fn to_python(cell: &str, quote: Quote) -> (String, Vec<Magic>) {
    if let Some((start, line)) = magic_of_cell(cell) {
        let (name, rest) = named(&line.trim_start()[2..]);
        let body = &cell[start + line.len()..];
        let python = format!("{CELL_MAGIC}{}, {}, {})", quote.quoted(name), quote.quoted(rest), quote.quoted(body));
        return (python.clone(), vec![Magic::called(python, cell.to_owned())]);
    }
    let (mut out, mut magics) = (String::new(), Vec::new());
    let mut at = 0;
    while at < cell.len() {
        let line = &cell[at..];
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let whole = magic_line(line);
        if let Some(python) = call(whole[indent..].trim_end(), quote) {
            let end = if whole.ends_with('\n') { "\n" } else { "" };
            let written = whole[indent..].strip_suffix('\n').unwrap_or(&whole[indent..]).to_owned();
            out += &format!("{}{python}{end}", &line[..indent]);
            magics.push(Magic::called(python, written));
            at += whole.len();
        } else {
            let end = statement_end(line);
            out.push_str(&line[..end]);
            at += end;
        }
    }
    (without_headings(out, &mut magics), magics)
}

/// The code with calls for the statements that are not Python, whatever they are; the others can be read all the same.
pub(super) fn without_unreadable(cell: String, magics: &mut Vec<Magic>, quote: Quote) -> String {
    if is_python(&cell) {
        return cell;
    }
    let mut call = |text: &str| {
        let written = from_python(text.strip_suffix('\n').unwrap_or(text), magics);
        // As many lines as before.
        let lines: Vec<String> = written.split_inclusive('\n').map(|line| quote.string(line)).collect();
        let python = format!("get_ipython().run_cell({})", lines.join("\n"));
        let out = format!("{python}{}", if text.ends_with('\n') { "\n" } else { "" });
        magics.push(Magic::called(python, written));
        out
    };
    let parts = blocks(&cell).into_iter();
    let out: String = parts.map(|part| if is_python(part) { part.to_owned() } else { call(part) }).collect();
    if is_python(&out) { out } else { call(&cell) }
}

/// Whether code is Python, and does not go on behind its end.
fn is_python(text: &str) -> bool {
    let text = format!("{text}\n");
    code(text.as_bytes()).last() == Some(text.len() - 1) && !Tree::parse(&text).has_error()
}

/// The statements of a cell that are in no other, each with what follows up to the next one.
fn blocks(cell: &str) -> Vec<&str> {
    let (mut starts, mut at, mut decorates) = (vec![0], 0, false);
    while at < cell.len() {
        let line = &cell[at..];
        let goes_on = decorates
            || line.starts_with([' ', '\t', '\r', '\n', '#', ')', ']', '}'])
            || ["else", "elif", "except", "finally"].contains(&word(line));
        if at > 0 && !goes_on {
            starts.push(at);
        }
        decorates = line.starts_with('@');
        at += statement_end(line);
    }
    let ends = starts.iter().copied().skip(1).chain([cell.len()]);
    starts.iter().zip(ends).map(|(start, end)| &cell[*start..end]).collect()
}

/// The code with other comments for those that look like the heading of a cell.
fn without_headings(cell: String, magics: &mut Vec<Magic>) -> String {
    if !cell.contains(HEADING) {
        return cell;
    }
    let line = |line: &str| {
        let Some(rest) = line.strip_prefix("# ").filter(|_| line.starts_with(HEADING)) else { return line.to_owned() };
        let python = format!("#{rest}");
        let bare = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
        magics.push(Magic::called(bare(&python), bare(line)));
        python
    };
    cell.split_inclusive('\n').map(line).collect()
}

/// A cell's code with the syntax of IPython in place of these calls.
pub(super) fn from_python(code: &str, magics: &[Magic]) -> String {
    fn first_line(text: &str) -> &str {
        text.split('\n').next().unwrap_or_default()
    }
    let mut left: SortedMap<&str, Vec<&Magic>> = SortedMap::new();
    for magic in magics {
        left.entry(first_line(&magic.python)).or_default().push(magic);
    }
    let marks = magics.iter().filter_map(|magic| magic.mark.clone());
    let marks: SortedMap<String, String> = marks.map(|mark| (comment(&mark), mark)).collect();
    let mut out = String::new();
    let (mut at, mut next) = (0, 0);
    while at < code.len() {
        let line = code[at..].find('\n').map_or(code.len(), |n| at + n + 1);
        let begins = at >= next;
        if begins {
            next = at + statement_end(&code[at..]);
        }
        let statement = code[at..line].trim_start_matches([' ', '\t']);
        let start = line - statement.len();
        let ends = |rest: &str| rest.is_empty() || rest.starts_with('\n');
        let is_it = |magic: &&Magic| code[start..].strip_prefix(magic.python.as_str()).is_some_and(ends);
        let same = left.get_mut(first_line(statement));
        let found = same.and_then(|same| same.iter().position(is_it).map(|n| same.remove(n)));
        if let Some(Magic { python, written, .. }) = found {
            out += &code[at..start];
            out += written;
            at = start + python.len();
            out += &code[at..(at + 1).min(code.len())];
            at += 1;
        } else {
            out += &code[at..start];
            out += &unmarked(&code[start..line], &marks, begins && next == line);
            at = line;
        }
    }
    out
}

/// The code with the statements that `%time` and `%timeit` run, each with its mark, in place of the calls for them.
pub(super) fn with_statements(code: &str, magics: &mut [Magic], runs_python: &[String]) -> String {
    let mut left = SortedMap::grouped(magics.iter().map(|magic| magic.call.clone()).zip(0..));
    let mut out = String::new();
    for line in code.split_inclusive('\n') {
        let same = left.get_mut(line.trim()).filter(|same| !same.is_empty());
        let Some(magic) = same.map(|same| &mut magics[same.remove(0)]) else {
            out += line;
            continue;
        };
        let marked = marked(magic.written.trim_end(), runs_python).filter(|(_, mark)| !code.contains(&comment(mark)));
        (magic.python, magic.mark) = match marked {
            Some((statement, mark)) => (format!("{statement}{}", comment(&mark)), Some(mark)),
            None => (magic.call.clone(), None),
        };
        out += &line.replacen(&magic.call, &magic.python, 1);
    }
    out
}

/// A mark as the comment behind a statement.
fn comment(mark: &str) -> String {
    format!("  # {mark}")
}

/// A line with its mark before it; without it if the line is no whole statement.
fn unmarked(line: &str, marks: &SortedMap<String, String>, is_statement: bool) -> String {
    let text = line.trim_end();
    let found = text.rfind("  # ").and_then(|at| Some((&text[..at], marks.get(&text[at..])?)));
    match found {
        Some((statement, mark)) if is_statement => format!("{mark} {statement}{}", &line[text.len()..]),
        Some((statement, _)) => format!("{statement}{}", &line[text.len()..]),
        None => line.to_owned(),
    }
}

/// The statement of Python that `%time STATEMENT` or `%timeit OPTIONS STATEMENT` runs, and what stands before it.
fn marked(line: &str, runs_python: &[String]) -> Option<(String, String)> {
    let (name, mut rest) = named(line.strip_prefix('%').filter(|rest| !rest.starts_with('%'))?);
    if !runs_python.iter().any(|magic| magic == name) {
        return None;
    }
    // A number follows some of timeit's options.
    while let Some(option) = rest.strip_prefix('-').filter(|_| name == "timeit") {
        let end = option.find(' ')?;
        rest = option[end..].trim_start();
        if option[..end].len() == 1 && "nrpv".contains(&option[..end]) {
            rest = rest[rest.find(' ')?..].trim_start();
        }
    }
    let is_statement = !rest.is_empty()
        && !rest.starts_with('-')
        && !rest.contains(['\n', '#'])
        && is_python(rest)
        && !rest.trim_end().ends_with(':');
    is_statement.then(|| (rest.to_owned(), line[..line.len() - rest.len()].trim_end().to_owned()))
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
    let value_at = value_of_assignment(statement)?;
    let (target, value) = statement.split_at(value_at);
    if let Some(command) = value.strip_prefix('!') {
        return Some(format!("{target}get_ipython().getoutput({})", quote.quoted(command)));
    }
    let (name, rest) = named(value.strip_prefix('%').filter(|rest| !word(rest).is_empty())?);
    Some(format!("{target}get_ipython().run_line_magic({}, {})", quote.quoted(name), quote.quoted(rest)))
}

/// Where the value of an assignment begins, perhaps in another line.
fn value_of_assignment(statement: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let sign = code(statement.as_bytes()).find(|at| {
        match statement.as_bytes()[*at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'=' => return depth == 0,
            _ => {}
        }
        false
    })?;
    let is_other_sign = statement[..sign].ends_with(|c: char| "=!<>:+-*/%&|^@".contains(c));
    let mut value = &statement[sign + 1..];
    while let Some(next) = ["\\\n", "\\\r\n"].iter().find_map(|end| value.trim_start().strip_prefix(end)) {
        value = next;
    }
    let value = value.trim_start();
    (sign > 0 && !is_other_sign && !value.is_empty()).then_some(statement.len() - value.len())
}

/// The call for `name?`, `name??` or `?name`: no statement of Python begins or ends with a question mark.
fn help(statement: &str, quote: Quote) -> Option<String> {
    let last = statement.len().checked_sub(1)?;
    let asks = statement.starts_with('?')
        || statement.ends_with('?') && code(statement.as_bytes()).last().is_some_and(|at| at == last);
    if !asks {
        return None;
    }
    let name = statement.trim_matches('?').trim();
    if name.is_empty() {
        return Some("get_ipython().show_usage()".to_owned());
    }
    let magic = if statement.contains("??") { "pinfo2" } else { "pinfo" };
    Some(format!("get_ipython().run_line_magic({}, {})", quote.quoted(magic), quote.quoted(name)))
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote(char);

impl Quote {
    /// Those of most strings in these texts.
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let count = |quote: char| texts.clone().map(|text| text.matches(quote).count()).sum::<usize>();
        Self(if count('"') > count('\'') { '"' } else { '\'' })
    }

    /// A text as a string of Python. Lines that a backslash continues are strings in lines of their own.
    fn quoted(self, text: &str) -> String {
        let lines: Vec<String> = text.replace("\\\r\n", "\\\n").split("\\\n").map(|line| self.string(line)).collect();
        lines.join("\n")
    }

    /// A text as one literal.
    fn string(self, text: &str) -> String {
        let Self(quote) = self;
        let mut out = String::from(quote);
        for c in text.chars() {
            match c {
                '\n' => out += "\\n",
                '\r' => out += "\\r",
                '\t' => out += "\\t",
                '\\' => out += "\\\\",
                _ if c == quote => out.extend(['\\', c]),
                _ => out.push(c),
            }
        }
        out.push(quote);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of Python for a cell, whose calls come back as they were written.
    #[track_caller]
    fn check(cell: &str, python: &str) {
        let (code, mut magics) = to_python(cell, Quote('\''));
        let code = with_statements(&code, &mut magics, &["time".to_owned(), "timeit".to_owned()]);
        let code = without_unreadable(code, &mut magics, Quote('\''));
        assert_eq!(code, python);
        assert_eq!(from_python(&code, &magics), cell);
    }

    #[test]
    fn statements_of_ipython_are_calls() {
        check("!ls\n!!ls -l", "get_ipython().system('ls')\nget_ipython().getoutput('ls -l')");
        check("%env A=1\nx = (1\n% time)", "get_ipython().run_line_magic('env', 'A=1')\nx = (1\n% time)");
        check("a, b = %timeit -o f()", "a, b = get_ipython().run_line_magic('timeit', '-o f()')");
        check("d['a=b'] = !ls", "d['a=b'] = get_ipython().getoutput('ls')");
        check("f(x).y = !ls", "f(x).y = get_ipython().getoutput('ls')");
        check("x = \\\n  !ls\ny", "x = \\\n  get_ipython().getoutput('ls')\ny");
        check("!a \\\r\n b\r\ny\r\n", "get_ipython().system('a '\n' b')\ny\r\n");
        check("torch.nn?\n?a\nb??\n?\nd['a'][0]?", {
            "get_ipython().run_line_magic('pinfo', 'torch.nn')\nget_ipython().run_line_magic('pinfo', 'a')\n\
             get_ipython().run_line_magic('pinfo2', 'b')\nget_ipython().show_usage()\n\
             get_ipython().run_line_magic('pinfo', 'd[\\'a\\'][0]')"
        });
        check("\n%%html a\n<b>\n", "get_ipython().run_cell_magic('html', 'a', '<b>\\n')");
        check("# why\r\n%%html\r\n<b>\r\n", "get_ipython().run_cell_magic('html', '', '<b>\\r\\n')");
    }

    #[test]
    fn statements_behind_a_magic() {
        check("%time f(x)\ny", "f(x)  # %time\ny");
        check("if a:\n  %timeit -n 5 -r2 x = f()\n", "if a:\n  x = f()  # %timeit -n 5 -r2\n");
        check("%time", "get_ipython().run_line_magic('time', '')");
        check("%time f(", "get_ipython().run_line_magic('time', 'f(')");
        check("%time f()\nx = 1  # %time", "get_ipython().run_line_magic('time', 'f()')\nx = 1  # %time");
        check("%env f()", "get_ipython().run_line_magic('env', 'f()')");
        let (code, mut magics) = to_python("%time f(x)\n", Quote('\''));
        with_statements(&code, &mut magics, &["time".to_owned()]);
        assert_eq!(from_python("a()\nf(x, 1)  # %time\n", &magics), "a()\n%time f(x, 1)\n");
        assert_eq!(from_python("f(x,\n  1)  # %time\n", &magics), "f(x,\n  1)\n");
        // The text that somebody edits has the call.
        let edited = with_statements(&format!("{code}y\n"), &mut magics, &["time".to_owned()]);
        assert_eq!(edited, "f(x)  # %time\ny\n");
        assert_eq!(from_python(&edited, &magics), "%time f(x)\ny\n");
        let edited = with_statements(&format!("{code}y  # %time\n"), &mut magics, &["time".to_owned()]);
        assert_eq!(from_python(&edited, &magics), "%time f(x)\ny  # %time\n");
        check("%time f(x)  \r\ny\r\n", "f(x)  # %time\ny\r\n");
    }

    #[test]
    fn magics_that_run_python_are_above_it() {
        let check = |cell: &str, head: &str| assert_eq!(split_head(cell, &["time", "capture"]).0, head, "{cell}");
        check("%%time\nx", "%%time\n");
        check("\n  %%time -n\nx", "\n  %%time -n\n");
        check("#@title A\n%%capture\n%%time\nx\n%%time\n", "#@title A\n%%capture\n%%time\n");
        check("%%capture\n%%bash\nx", "%%capture\n");
        check("x\n%%time\n", "");
        check("# x\n%%html\n", "");
    }

    #[test]
    fn what_is_no_python_is_a_call_of_its_own() {
        check("x = 1\npip install x\ny = 2", "x = 1\nget_ipython().run_cell('pip install x')\ny = 2");
        check(
            "if a:\n    !ls\n    b c\n# d\nelse:\n    e\nf()\n",
            "get_ipython().run_cell('if a:\\n'\n'    !ls\\n'\n'    b c\\n'\n'# d\\n'\n'else:\\n'\n'    e')\nf()\n",
        );
        check(">>> x = 1\n>>> y", "get_ipython().run_cell('>>> x = 1')\nget_ipython().run_cell('>>> y')");
        check("x\ny = (1,\nz", "x\nget_ipython().run_cell('y = (1,\\n'\n'z')");
        check("x\ny = \\", "x\nget_ipython().run_cell('y = \\\\')");
        check("x == !y", "get_ipython().run_cell('x == !y')");
        check("% time f()", "get_ipython().run_cell('% time f()')");
    }

    #[test]
    fn comments_like_headings_are_other_comments() {
        check("a\n# %% [2] b\nc", "a\n#%% [2] b\nc");
        check("a\n# %% b\r\nc", "a\n# %% b\r\nc");
    }

    #[test]
    fn python_is_left_alone() {
        for code in [
            "x = (a\n     % b)\n",
            "x = a \\\n    % b\n",
            "s = \"\"\"\n!ls\n%time\n\"\"\"\n",
            "f(\n    a,  # it's\n    b)\n",
            "s = 'a=!b'\n",
            "ok = a != b\n",
            "f(a=1)  # why?\n",
            "s = \"\"\"a?\nb?\"\"\"\n",
            "x  # a \\",
        ] {
            check(code, code);
        }
    }
}
