//! Mistakes in a script as a whole: line endings, continued lines, directives that are too late, background commands.

use super::model::{file_name, is_shell};
use super::shell::{Command, Piece, Quote, Token, closed, commands};
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    line_ends(look);
    continuations(look);
    late_directives(look);
    left_behind(look);
    placeholders(look);
    idle_shells(look);
    invisible(look);
    globs(look);
    redirections(look);
}

/// `rm "x/*"`: in quotes, `*` is a character.
fn globs(look: &mut Look<'_>) {
    look.each_own(|look, command| {
        let takes_files = ["rm", "cp", "mv", "ls", "cat"].iter().any(|name| command.runs(name) == Some(0));
        let quoted = |piece: &&Piece| piece.quote != Quote::Bare && has_star(&look.script[piece.range.clone()]);
        let piece = command.words.iter().flat_map(|word| &word.pieces).find(quoted).map(|piece| piece.range.start);
        if let Some(at) = piece.filter(|_| takes_files) {
            look.found(at, "quoted-glob", "in quotes, * is a character: end the quotes before it");
        }
    });
}

/// Whether a text has a `*` outside `$*`, `${…}` and `$(…)`.
fn has_star(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['*', '$']) {
        rest = &rest[at..];
        let length = match rest.as_bytes() {
            [b'*', ..] => return true,
            [_, b'{', ..] => closed(rest, '{', '}'),
            [_, b'(', ..] => closed(rest, '(', ')'),
            [_, b'*', ..] => 2,
            _ => 1,
        };
        rest = &rest[length..];
    }
    false
}

/// `2>&1 >> log` sends errors to where the output went before.
fn redirections(look: &mut Look<'_>) {
    let wrong = |line: &str| {
        let at = line.find("2>&1")?;
        let rest = line[at + 4..].trim_start();
        let is_own = !line.trim_start().starts_with('#') && rest.starts_with('>');
        // A pipe or a substitution reads the errors alone.
        (is_own && !rest.replace("||", "").contains(['|', ')', '`'])).then_some(at)
    };
    let places: Vec<usize> = lines(look.script).filter_map(|(at, line)| Some(at + wrong(line)?)).collect();
    let documents = || look.commands.iter().flat_map(|command| &command.documents);
    let is_text = |at: usize| is_quoted(look, at) || documents().any(|document| document.range.contains(&at));
    let places: Vec<usize> = places.into_iter().filter(|at| !is_text(*at)).collect();
    for at in places {
        look.found(at, "redirect-order", "errors are not in the file: write 2>&1 after it");
    }
}

/// Characters that a copied text has and that a shell takes for a part of a word.
fn invisible(look: &mut Look<'_>) {
    let others = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{a0}'];
    let pieces = look.commands.iter().flat_map(|command| &command.words).flat_map(|word| &word.pieces);
    let bare = pieces.filter(|piece| piece.quote == Quote::Bare).map(|piece| piece.range.clone());
    for range in bare.collect::<Vec<_>>() {
        let text = &look.script[range.clone()];
        let places: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| others.contains(c)).collect();
        for (at, c) in places {
            let start = range.start + at;
            look.found(start, "invisible-character", "an invisible character is part of this word");
            look.mend(start..start + c.len_utf8(), if c == '\u{a0}' { " " } else { "" });
        }
    }
}

/// `apptainer exec IMAGE bash`: the shell has nothing to run, and what follows runs outside.
fn idle_shells(look: &mut Look<'_>) {
    if look.directives.is_empty() {
        return;
    }
    look.each_own(|look, command| {
        let Some((last, before)) = command.words.split_last() else { return };
        let is_read = look.script[..command.words[0].range.start].trim_end().ends_with('|');
        let opens = before
            .iter()
            .zip(&command.words[1..])
            .any(|(own, next)| names::contains(&own.text) && next.text == "shell" && command.documents.is_empty());
        if opens && !is_read {
            let message = "this shell has nothing to run: it ends at once, and the lines after it run outside it";
            return look.found(last.range.start, "idle-shell", message);
        }
        if let [tool, verb, ..] = &command.words[..]
            && verb.text == "shell"
            && names::opens(file_name(&tool.text))
            && !is_read
        {
            let message = format!(
                "this shell has nothing to run: it ends at once, and the lines after it run outside it; start programs by \
                 {} run",
                tool.text
            );
            return look.found(tool.range.start, "idle-shell", message);
        }
        let is_ssh = matches!(before, [own] | [.., own] if own.text == "ssh") && !last.text.starts_with('-');
        if is_ssh && !is_read && command.documents.is_empty() {
            let message = "ssh has no command: a shell without input ends at once, and the lines after it run here";
            return look.found(last.range.start, "idle-shell", message);
        }
        let is_inside = before.iter().any(|word| names::contains(&word.text) || names::starts(&word.text));
        if is_shell(&last.text) && is_inside && !is_read && command.documents.is_empty() {
            let message = "this shell has nothing to run: it ends at once, and the lines after it run outside it";
            look.found(last.range.start, "idle-shell", message);
        }
    });
}

/// `<group>` where a name has to be filled in: a shell reads a file of that name, a scheduler interprets it as the
/// name.
fn placeholders(look: &mut Look<'_>) {
    let script = look.script;
    let is_bare = |at: usize| {
        let mut pieces = look.commands.iter().flat_map(|command| &command.words).flat_map(|word| &word.pieces);
        pieces.all(|piece| !piece.range.contains(&at))
    };
    let is_text = |text: &str| text.len() > 3 && text.chars().all(|c| c.is_ascii_alphabetic() || "_- ".contains(c));
    let mut places: Vec<(usize, &str)> = Vec::new();
    for (at, line) in lines(script).filter(|(at, _)| !inside_document(look, *at)) {
        let directive = ["#SBATCH ", "#PBS "].iter().any(|mark| line.starts_with(mark));
        if line.trim_start().starts_with('#') && !directive {
            continue;
        }
        let own = if directive { line.split(" #").next().unwrap_or(line) } else { line };
        for (from, _) in own.match_indices('<') {
            let rest = &line[from + 1..];
            let Some(end) = rest.find('>') else { continue };
            let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic())
                && rest[..end]
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c) || (directive && c == ' '));
            // `<in >out` and `<in>out` are redirections; a placeholder is attached to a word, or nothing follows it.
            let is_glued = line[..from].ends_with(|c: char| c.is_ascii_alphanumeric() || "=/-_.".contains(c));
            let comment = line[..from].contains(" #");
            let ends = rest[end + 1..].trim().is_empty();
            let is_several = is_text(&rest[..end]) && rest[..end].trim() == &rest[..end] && rest[..end].contains(' ');
            let is_path = is_several && (ends || rest[end + 1..].starts_with('/'));
            if is_path && !comment && is_bare(at + from) {
                places.push((at + from, &line[from..from + end + 2]));
            }
            if is_name && (directive || (!comment && is_bare(at + from) && (is_glued || ends))) {
                places.push((at + from, &line[from..from + end + 2]));
            }
        }
    }
    // `[data-folder]/train`, `<PATH TO DATA>` as values of variables.
    for (_, _, value) in look.model.steps.iter().flat_map(|step| &step.command.words).filter_map(Token::sets) {
        let Some(Piece { range, quote: Quote::Single | Quote::Double }) = value.first() else { continue };
        let text = &script[range.clone()];
        let closed = |open: char, close: char| text.strip_prefix(open)?.split_once(close).map(|(inner, _)| inner);
        let inner = closed('[', ']').or_else(|| closed('<', '>')).filter(|inner| is_text(inner));
        places.extend(inner.map(|inner| (range.start, &text[..inner.len() + 2])));
    }
    // `/path/to/data`, `your_script.py`, `$HOME/.../code`.
    let is_open = |text: &str| {
        let mut parts = text.split(['/', '=', ':']);
        !text.contains(char::is_whitespace)
            && (text.contains("path/to/")
                || parts.any(|part| {
                    let rest = part.get(..4).filter(|own| own.eq_ignore_ascii_case("your")).map(|_| &part[4..]);
                    let is_joined = |rest: &str| rest.starts_with(|c: char| "_-".contains(c) || c.is_ascii_uppercase());
                    part == "..." || rest.is_some_and(is_joined) || names::is_to_fill(part)
                }))
    };
    for step in look.model.steps.iter().filter(|step| !step.is_quiet()) {
        let open = step.command.words.iter().filter(|word| is_open(&word.text));
        places.extend(open.map(|word| (word.range.start, &script[word.range.clone()])));
    }
    for directive in &look.directives {
        let value = &*directive.value;
        let in_brackets = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).is_some_and(is_text);
        let is_open = (in_brackets && directive.option != "constraint")
            || is_open(value)
            || value.eq_ignore_ascii_case("your")
            || value.to_ascii_lowercase().contains("xxxx");
        let is_open = is_open && !value.is_empty();
        let place = script[directive.at..].find(value).filter(|_| is_open);
        places.extend(place.map(|at| (directive.at + at, value)));
    }
    let places: Vec<(usize, String)> = places.into_iter().map(|(at, text)| (at, text.to_string())).collect();
    for (at, text) in places {
        look.found(at, "placeholder", format!("{text} is a placeholder; fill it in"));
    }
}

/// bash interprets the `\r` of `\r\n` as part of the last word.
fn line_ends(look: &mut Look<'_>) {
    let places: Vec<usize> = look.script.match_indices("\r\n").map(|(at, _)| at).collect();
    if let Some(first) = places.first() {
        look.found(*first, "line-ends", "lines end in CR and LF; bash reads the CR as part of the line");
        for at in places {
            look.mend(at..at + 1, "");
        }
    }
}

/// A line that begins with an option continues one that lacks its backslash; a space after a backslash ends it.
fn continuations(look: &mut Look<'_>) {
    let blanks: Vec<(usize, usize)> = lines(look.script)
        .filter_map(|(at, line)| {
            let text = line.trim_end_matches(['\r', '\n']);
            let bare = text.trim_end_matches([' ', '\t']);
            (bare.len() < text.len() && bare.ends_with('\\') && !text.trim_start().starts_with('#'))
                .then_some((at + bare.len(), at + text.len()))
        })
        .collect();
    for (from, to) in &blanks {
        look.found(*from, "lost-continuation", "a space follows the backslash: the line is not continued");
        look.mend(*from..*to, "");
    }
    let words: Vec<usize> = look.commands.iter().flat_map(|c| &c.words).map(|word| word.range.end).collect();
    look.each_own(|look, command| {
        let Some(first) = command.words.first() else { return };
        let start = first.range.start;
        let line = look.script[..start].rfind('\n').map_or(0, |at| at + 1);
        let is_option = first.text.len() > 1 && first.text.starts_with('-');
        if !is_option || !look.script[line..start].trim().is_empty() || line == 0 || is_pattern(&look.script[line..]) {
            return;
        }
        let end = look.script[..line - 1].trim_end().len();
        if look.script[..line].ends_with("\n\n") || look.script[..end].ends_with('\\') {
            return;
        }
        let before = look.script[..end].rfind('\n').map_or(0, |at| at + 1);
        if look.script[before..end].trim_start().starts_with('#') {
            return;
        }
        let message = "begins with an option: the line before it lacks a backslash";
        look.found(start, "lost-continuation", message);
        // Inside a comment a backslash is part of the comment.
        let last = words.iter().copied().filter(|word| *word <= end).max().unwrap_or(before);
        if !look.script[last.max(before)..end].contains('#') {
            look.mend(end..line - 1, " \\");
        }
    });
}

/// `-h|--help)`, a pattern of `case`: words separated only by `|` before a `)`.
fn is_pattern(script: &str) -> bool {
    let line = script.lines().next().unwrap_or_default();
    let Some((pattern, _)) = line.split_once(')') else { return false };
    !pattern.contains('(') && pattern.split('|').all(|word| !word.trim().contains(char::is_whitespace))
}

fn lines(script: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    script.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

/// A scheduler reads directives up to the first command.
fn late_directives(look: &mut Look<'_>) {
    let Some(first) = look.commands.first().and_then(|command| command.words.first()).map(|word| word.range.start)
    else {
        return;
    };
    let script = look.script;
    let is_directive = |line: &str| ["#SBATCH ", "#PBS "].iter().any(|mark| line.starts_with(mark));
    let is_text = |at: usize| inside_document(look, at) || inside_word(look, at);
    let late: Vec<(usize, &str)> =
        lines(script).filter(|(at, line)| *at > first && is_directive(line) && !is_text(*at)).collect();
    let redirected = last_redirected(script);
    let printed = look.commands.iter().filter(|command| command.runs("echo") == Some(0)).filter_map(|command| {
        let word = command.words.get(1).filter(|_| command.words.len() == 2)?;
        let end = look.script[word.range.end..].lines().next().unwrap_or_default();
        let is_shown = is_directive(&word.text) && !end.contains(['>', '|']);
        (is_shown && redirected.is_none_or(|end| end < word.range.end)).then_some(word.range.start)
    });
    for at in printed.collect::<Vec<_>>() {
        look.found(at, "late-directive", "is only printed: the scheduler does not read it");
    }
    if late.is_empty() {
        return;
    }
    let own = lines(script).filter(|(at, line)| *at < first && (is_directive(line) || line.starts_with("#!"))).last();
    let place = own.map_or(0, |(at, line)| at + line.len());
    let mut moved = String::new();
    for (at, line) in late {
        // A value that no scheduler replaces, or only another one.
        if line.contains(['$', '`']) || (line.starts_with("#PBS") && line.contains('%')) {
            let message =
                "comes after a command: the scheduler does not read it, nor would it replace the $ or % in it";
            look.found(at, "late-directive", message);
            continue;
        }
        look.found(at, "late-directive", "comes after a command: the scheduler does not read it");
        moved += line.trim_end_matches(['\r', '\n']);
        moved.push('\n');
        look.mend(at..at + line.len(), "");
    }
    if !moved.is_empty() {
        look.mend(place..place, moved);
    }
}

/// The end of the last group whose output goes elsewhere: `} > job.sh`.
fn last_redirected(script: &str) -> Option<usize> {
    let last = |at: usize| script[..at].trim_end().rsplit([' ', '\t', '\n', ';']).next().unwrap_or_default();
    script.rmatch_indices(['>', '|']).map(|(at, _)| at).find(|at| ["}", ")", "done", "fi", "esac"].contains(&last(*at)))
}

/// A script that writes another one has its directives in a here-document.
fn inside_document(look: &Look<'_>, at: usize) -> bool {
    look.script[..at].contains("<<")
}

/// Whether a place is in quotes.
fn is_quoted(look: &Look<'_>, at: usize) -> bool {
    let mut pieces = look.commands.iter().flat_map(|command| &command.words).flat_map(|word| &word.pieces);
    pieces.any(|piece| piece.quote != Quote::Bare && piece.range.contains(&at))
}

/// Whether a line begins between quotes.
fn inside_word(look: &Look<'_>, at: usize) -> bool {
    look.commands.iter().flat_map(|command| &command.words).any(|word| word.range.contains(&at))
}

/// Commands that start a training; a job ends with its script, even if background commands are still running.
const STARTERS: [&str; 7] = ["mpirun", "mpiexec", "srun", "torchrun", "python", "python3", "accelerate"];

fn left_behind(look: &mut Look<'_>) {
    let wait = look.commands.iter().find(|command| command.runs("wait") == Some(0));
    let is_job = look.script.lines().any(|line| line.starts_with("#SBATCH") || line.starts_with("#PBS"));
    if !is_job {
        return;
    }
    if let Some(wait) = wait {
        let at = wait.words[0].range.start;
        let step = look.model.steps.iter().find(|step| step.command.words.first().is_some_and(|w| w.range.start == at));
        let is_plain = step.is_some_and(|step| !step.block.branched);
        if wait.words.len() == 1 && is_plain && !look.script.lines().any(runs_beside) {
            look.found(at, "waits-for-nothing", "nothing runs in the background: these commands run one after another");
        }
        return;
    }
    let of_target = look.table.lint.shares.as_ref().map(|shares| shares.program.as_str());
    let by_name = |command: &Command| command.words.iter().any(|word| names::starts(file_name(&word.text)));
    let starts = |command: &Command| {
        by_name(command) || STARTERS.iter().copied().chain(of_target).any(|name| command.runs(name).is_some())
    };
    let script = look.script;
    let is_beside = |command: &Command| {
        let end = command.words.last().map_or(0, |word| word.range.end);
        // After the last word: redirections have their own words.
        let rest = script[end..].lines().next().unwrap_or_default().trim_start();
        rest.starts_with('&') && !rest.starts_with("&&") && !rest.starts_with("&>")
    };
    let left = |command: &&Command| starts(command) && is_beside(command);
    let last = look.commands.last().map(|command| command.words.as_ptr());
    let left = |command: &&Command| left(command) || (Some(command.words.as_ptr()) == last && is_beside(command));
    let Some(index) = look.commands.iter().rposition(|command| left(&command)) else { return };
    let at = look.commands[index].words[0].range.start;
    // What runs beside a program in the foreground serves it.
    if look.commands[index + 1..].iter().any(|command| starts(command) || command.has("sleep")) {
        return;
    }
    look.found(at, "left-behind", "runs in the background, but the job ends with the script: wait for it");
    let line = if script.ends_with('\n') { "wait\n" } else { "\nwait\n" };
    // After an open quote or here-document it would be a part of that.
    if commands(&format!("{script}{line}")).last().is_some_and(|command| command.runs("wait") == Some(0)) {
        look.mend(script.len()..script.len(), line);
    }
}

/// A line with an `&` that may start a background command: not `&&`, and not a redirection. Text in quotes counts too,
/// so that nothing is reported for a script that is only hard to parse.
pub(super) fn runs_beside(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with('#') {
        return false;
    }
    let letters: Vec<char> = line.chars().collect();
    let is = |at: Option<usize>, known: &str| at.and_then(|at| letters.get(at)).is_some_and(|c| known.contains(*c));
    (0..letters.len())
        .filter(|at| letters[*at] == '&')
        .any(|at| !is(at.checked_sub(1), "&<>|") && !is(Some(at + 1), "&>"))
        || ["coproc", "bg", "parallel"].iter().any(|word| line.split_whitespace().any(|own| own == *word))
}
