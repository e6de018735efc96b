//! Mistakes in single words, for all targets: quotes, `~`, braces, names, folders, packages.

use super::model::Set;
use super::shell::{Command, Piece, Quote, Token};
use super::{Look, whole};

pub(super) fn check(look: &mut Look<'_>) {
    look.each_own(|look, command| {
        for word in &command.words {
            curly_quotes(look, word);
            open_brace(look, word);
            braces_around(look, word);
            literal_tilde(look, command, word);
            name(look, word, "ONM_NUM_THREADS", "OMP_NUM_THREADS", "no library reads it; use OMP_NUM_THREADS");
        }
        literal_braces(look, command);
        python_path(look, command);
        conda_function(look, command);
        packages(look, command);
        unquoted_test(look, command);
    });
    // Also in the texts for other shells.
    let steps = std::mem::take(&mut look.model.steps);
    steps.iter().flat_map(|step| &step.command.words).for_each(|word| home_folder(look, word));
    look.model.steps = steps;
    look.each(|look, command| {
        prompts(look, command);
        terminal(look, command);
        of_csh(look, command);
    });
}

/// A name with a different spelling than the one that is read.
pub(super) fn name(look: &mut Look<'_>, word: &Token, wrong: &str, right: &str, why: &str) {
    let text = &look.script[word.range.clone()];
    let places: Vec<usize> = whole(text, wrong).map(|at| word.range.start + at).collect();
    for at in places {
        look.found(at, "unknown-name", format!("{wrong}: {why}"));
        if !right.is_empty() {
            look.mend(at..at + wrong.len(), right);
        }
    }
}

/// `${NAME` without its brace lasts until the next one, lines later.
fn open_brace(look: &mut Look<'_>, word: &Token) {
    for piece in word.pieces.iter().filter(|piece| piece.quote != Quote::Single) {
        let text = &look.script[piece.range.clone()];
        let open = text.match_indices("${").find(|(at, _)| {
            let rest = &text[at + 2..];
            let line = rest.lines().next().unwrap_or_default();
            let name = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
            !line.contains('}') && !line[name..].starts_with([':', '#', '%', '+', '-', '='])
        });
        if let Some((at, _)) = open {
            look.found(piece.range.start + at, "open-brace", "this ${ is not closed in its line");
            return;
        }
    }
}

fn curly_quotes(look: &mut Look<'_>, word: &Token) {
    for piece in word.pieces.iter().filter(|piece| piece.quote == Quote::Bare) {
        let text = &look.script[piece.range.clone()];
        let places: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| "“”‘’".contains(*c)).collect();
        for (at, c) in places {
            let start = piece.range.start + at;
            look.found(start, "curly-quotes", "a shell does not treat curly quotes as quotes; use straight ones");
            look.mend(start..start + c.len_utf8(), if "“”".contains(c) { "\"" } else { "'" });
        }
    }
}

/// A shell expands `~` at the start of a word or of an assignment's value, outside quotes; anywhere else it is literal.
fn literal_tilde(look: &mut Look<'_>, command: &Command, word: &Token) {
    if ["echo", "printf"].iter().any(|name| command.runs(name) == Some(0)) {
        return;
    }
    let value = word.assigned().map(|(name, _)| word.range.start + name.len() + 1);
    for piece in &word.pieces {
        let text = &look.script[piece.range.clone()];
        let places: Vec<usize> = text.match_indices("~/").map(|(at, _)| piece.range.start + at).collect();
        for at in places {
            let before = &look.script[word.range.start..at];
            let is_path = before.is_empty() || before.ends_with(['=', '"', '\'', ':']);
            let is_expanded = piece.quote == Quote::Bare
                && (at == word.range.start || value == Some(at) || (value.is_some() && before.ends_with(':')));
            if is_path && !is_expanded {
                look.found(at, "literal-tilde", "the shell does not expand this ~; use $HOME");
                look.mend(at..at + 1, home(piece));
            }
        }
    }
}

/// `$HOME`, as it is expanded in such a piece.
fn home(piece: &Piece) -> &'static str {
    match piece.quote {
        Quote::Bare | Quote::Double => "$HOME",
        Quote::Single => "'\"$HOME\"'",
    }
}

/// Folders in which users' home folders are.
const OF_USERS: [&str; 6] = ["home", "staff", "students", "user", "users", "usr"];

/// Names of shared folders, which are not users' home folders.
const OF_ALL: [&str; 26] = [
    "apps",
    "common",
    "data",
    "dataset",
    "datasets",
    "local",
    "project",
    "projects",
    "public",
    "scratch",
    "share",
    "shared",
    "software",
    "work",
    "group",
    "groups",
    "ubuntu",
    "opc",
    "centos",
    "ec2-user",
    "jovyan",
    "admin",
    "anaconda",
    "anaconda3",
    "miniconda",
    "miniconda3",
];

/// A person's home folder at a place of a text, and its length.
fn person_at(text: &str, folder: &str, at: usize) -> Option<usize> {
    // Further inside a path, it is another file system's.
    if text[..at].ends_with(|c: char| c.is_alphanumeric() || "/._-+~}".contains(c)) {
        return None;
    }
    let after = &text[at + folder.len()..];
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let end_of = |from: usize| after[from..].find(|c: char| !is_part(c)).map_or(after.len(), |end| from + end);
    let (mut from, mut end) = (0, end_of(0));
    // Folders of users: `/home/users/j/jane`, `/home/549/jane`.
    let is_of_users =
        |part: &str| part.len() == 1 || OF_USERS.contains(&part) || part.bytes().all(|byte| byte.is_ascii_digit());
    while end > from && is_of_users(&after[from..end]) && after[end..].starts_with('/') {
        from = end + 1;
        end = end_of(from);
    }
    let next = after[end..].split('/').nth(1).unwrap_or_default();
    let own = after[from..end].split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_shared = next.contains("share")
        || own.contains("share")
        || ["groups", "public"].contains(&next)
        || ["$USER", "${USER}"].iter().any(|user| next.starts_with(user))
        || OF_USERS.contains(&&*own);
    (end > from && !is_shared && !OF_ALL.contains(&own.as_str())).then_some(folder.len() + end)
}

/// The folders of home folders.
const HOMES: [&str; 3] = ["/home/", "/Users/", "/homes/"];

/// The first home folder of a person in a text.
pub(super) fn home_of(text: &str) -> Option<&str> {
    let places = HOMES.iter().flat_map(|folder| text.match_indices(folder));
    places.filter_map(|(at, folder)| Some(&text[at..at + person_at(text, folder, at)?])).next()
}

fn home_folder(look: &mut Look<'_>, word: &Token) {
    for piece in &word.pieces {
        let text = look.script[piece.range.clone()].to_string();
        for folder in HOMES {
            for (at, _) in text.match_indices(folder) {
                let Some(length) = person_at(&text, folder, at) else { continue };
                let start = piece.range.start + at;
                let message = format!("{} is one person's folder; use $HOME", &text[at..at + length]);
                look.found(start, "home-folder", message);
                let is_start = at == 0 || text[..at].ends_with(['=', ':']);
                if is_start && folder != "/homes/" {
                    look.mend(start..start + length, home(piece));
                }
            }
        }
    }
}

/// `{$NAME}` is the value in braces.
fn braces_around(look: &mut Look<'_>, word: &Token) {
    for piece in word.pieces.iter().filter(|piece| piece.quote == Quote::Bare) {
        let text = &look.script[piece.range.clone()];
        for (at, _) in text.match_indices("{$").filter(|(at, _)| !text[..*at].ends_with('$')) {
            let inner = text[at + 2..].split('}').next().unwrap_or_default();
            if super::shell::is_name(inner) && text[at + 2 + inner.len()..].starts_with('}') {
                let start = piece.range.start + at;
                look.found(start, "literal-braces", format!("{{${inner}}} keeps its braces: ${{{inner}}}"));
                look.mend(start..start + 2, "${");
                return;
            }
        }
    }
}

/// `for i in {1}` and `for i in {1, 2}`: braces around one number, or with spaces between them, are literal.
fn literal_braces(look: &mut Look<'_>, command: &Command) {
    let Some(at) = command.words.iter().position(|word| word.text == "for") else { return };
    let values = command.words.get(at + 3..).unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    for word in values {
        let inner = word.text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        if let Some(number) = inner.filter(|text| is_number(text)) {
            let message = format!("{{{number}}} is not a range: the loop sees the braces");
            look.found(word.range.start, "literal-braces", message);
            look.mend(word.range.clone(), number);
        }
    }
    let first = values.iter().position(|word| word.text.starts_with('{') && !word.text.contains('}'));
    let last = values.iter().position(|word| word.text.ends_with('}') && !word.text.contains('{'));
    if let (Some(first), Some(last)) = (first, last)
        && first < last
    {
        let range = values[first].range.start..values[last].range.end;
        let inner = look.script[range.clone()].trim_matches(['{', '}']).replace(',', " ");
        let words: Vec<&str> = inner.split_whitespace().collect();
        look.found(range.start, "literal-braces", "bash does not expand braces with spaces: list only the values");
        if words.iter().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-/".contains(c))) {
            look.mend(range, words.join(" "));
        }
    }
}

/// PYTHONPATH lists folders of modules.
fn python_path(look: &mut Look<'_>, command: &Command) {
    for word in &command.words {
        let program = |value: &str| {
            ["$(which python", "`which python", "$(command -v python"].iter().any(|own| value.contains(own))
        };
        if word.assigned().is_some_and(|(name, value)| name == "PYTHONPATH" && program(value)) {
            look.found(word.range.start, "python-path", "is a program; PYTHONPATH lists module folders");
        }
    }
}

/// `conda activate` is a function of an interactive shell, which a job has only if its script or a module defines it.
fn conda_function(look: &mut Look<'_>, command: &Command) {
    let Some(at) = command.runs("conda") else { return };
    let activates = command.words.get(at + 1).is_some_and(|word| word.text == "activate");
    if !activates || !look.table.lint.conda || look.directives.is_empty() {
        return;
    }
    let shell = look.script.lines().next().unwrap_or_default();
    let is_login = shell.split_whitespace().skip(1).any(|word| word.starts_with('-') && word.contains(['l', 'i']));
    let place = command.words[at].range.start;
    let defines = |other: &Command| {
        let before = other.words.first().is_some_and(|word| word.range.start < place);
        before && ["source", ".", "eval", "module", "ml"].iter().any(|name| other.has(name))
    };
    if !is_login && !look.model.runs.iter().any(|run| defines(&run.command)) {
        let message = "a job's shell lacks this function of conda's: eval \"$(conda shell.bash hook)\" first";
        look.found(place, "conda-function", message);
    }
}

/// `[ -n $NAME ]` is true whatever the value is: without a word, `-n` itself is one.
fn unquoted_test(look: &mut Look<'_>, command: &Command) {
    for words in command.words.windows(4) {
        let [open, flag, word, close] = words else { continue };
        let is_bare = matches!(&word.pieces[..], [Piece { quote: Quote::Bare, .. }]);
        if open.text == "[" && flag.text == "-n" && close.text == "]" && is_bare && word.variable().is_some() {
            let message = format!("is true also if {} is empty: write \"{}\"", word.text, word.text);
            look.found(flag.range.start, "unquoted-test", message);
            look.mend(word.range.clone(), format!("\"{}\"", word.text));
        }
    }
}

/// A question that nobody answers in a job.
fn prompts(look: &mut Look<'_>, command: &Command) {
    let programs = ["conda", "mamba", "apt-get", "apt"];
    let verbs = ["install", "create", "remove", "update"];
    let program = programs.iter().find(|name| command.runs(name) == Some(0));
    // `apt update` only reads lists.
    let is_question = |word: &Token, name: &str| {
        verbs.contains(&&*word.text) && (word.text != "update" || ["conda", "mamba"].contains(&name))
    };
    let asks = program.is_some_and(|name| command.words.get(1).is_some_and(|word| is_question(word, name)));
    // `yes | conda install x`
    let before = command.words.first().map_or("", |word| look.script[..word.range.start].trim_end());
    let asks = asks && (!before.ends_with('|') || before.ends_with("||"));
    let answers = |word: &Token| ["-y", "--yes", "-qy", "-yq", "--force", "-qq"].contains(&&*word.text);
    if look.directives.is_empty() || !asks || command.words.iter().any(answers) {
        return;
    }
    let verb = &command.words[1];
    let message = format!("asks for a confirmation, which nobody gives in a job: {} -y", verb.text);
    look.found(verb.range.start, "prompt", message);
    look.mend(verb.range.end..verb.range.end, " -y");
}

/// `docker run -it`: docker refuses a terminal that is none.
fn terminal(look: &mut Look<'_>, command: &Command) {
    let Some(run) =
        ["docker", "podman"].iter().find_map(|name| command.runs(name)).filter(|_| !look.directives.is_empty())
    else {
        return;
    };
    let asks = |word: &&Token| ["-it", "-ti", "-t", "--tty"].contains(&&*word.text);
    let starts = |word: &Token| ["run", "exec"].contains(&&*word.text);
    if command.words.get(run + 1).is_some_and(starts)
        && let Some(word) = command.words[run + 2..].iter().take_while(|word| word.text.starts_with('-')).find(asks)
    {
        look.found(word.range.start, "prompt", "a job has no terminal: leave the t out");
        look.mend(word.range.clone(), if word.text.contains('i') { "-i" } else { "" });
    }
}

/// Whether the first line asks for csh.
pub(super) fn is_csh(script: &str) -> bool {
    script.lines().next().is_some_and(|line| line.starts_with("#!") && line.contains("csh"))
}

/// `set NAME = VALUE` and `setenv NAME VALUE`.
fn of_csh(look: &mut Look<'_>, command: &Command) {
    let is_csh = is_csh(look.script);
    let (Some(first), Some(name)) = (command.words.first(), command.words.get(1)) else { return };
    let sets = match &*first.text {
        "set" => command.words.get(2).is_some_and(|word| word.text == "="),
        "setenv" => command.words.len() == 3,
        _ => false,
    };
    // `set NAME=VALUE` sets the first argument of the script.
    let sets = sets || (first.text == "set" && command.words.len() == 2 && name.assigned().is_some());
    let name = name.text.split('=').next().unwrap_or_default();
    if sets && !is_csh && super::shell::is_name(name) {
        let message = format!("is csh's: this shell sets no {name} by it; write {name}=…");
        look.found(first.range.start, "csh", message);
    }
}

/// Environments that would hide the vendor's own build.
fn packages(look: &mut Look<'_>, command: &Command) {
    if let Some(at) = command.runs("conda").filter(|at| *at == 0 && !look.table.lint.conda) {
        let message = "the vendors' SDKs need Python's virtual environments, not conda";
        look.found(command.words[at].range.start, "conda", message);
    }
    let Some(install) = command.words.iter().position(|word| word.text == "install") else { return };
    if !["pip", "pip3"].iter().any(|name| command.runs(name).is_some_and(|at| at < install)) {
        return;
    }
    let hides = |set: &Set| set.name == "PYTHONNOUSERSITE" && set.at < command.words[install].range.start;
    if command.has("--user") && look.model.sets.iter().any(hides) {
        let message = "PYTHONNOUSERSITE hides what --user installs";
        look.found(command.words[install].range.start, "user-packages", message);
    }
    for word in command.words.iter().skip(install + 1) {
        let package = word.text.split(['=', '<', '>', '~', '!', '[']).next().unwrap_or_default();
        if ["torch", "tensorflow"].contains(&package) {
            let message = format!("pip's {package} replaces the vendor's build");
            look.found(word.range.start, "stock-framework", message);
        }
    }
}
