//! `portolan port --series`: the port as numbered patches for `git am`, one commit a recipe.
//!
//! The files have the form of `git format-patch`. Nothing in them depends on the clock or the machine: without a date,
//! `git am` takes its own.

use crate::args::Author;
use crate::interruption::{self, Interrupted};
use crate::messages::count;
use crate::project::{Project, repository_of};
use crate::replacement::New;
use crate::said::say_line;
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::{Applicability, Options, RecipeInfo, RecipeSet, SeriesStep};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Columns of a commit message.
const WIDTH: usize = 72;

/// The longest name that `git format-patch` gives a file.
const LONGEST_NAME: usize = 64;

/// Refuses a folder with patches: `git am` would be given those, too.
pub(crate) fn check_is_free(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    match names.iter().find(|name| Path::new(name).extension().is_some_and(|ending| ending == "patch")) {
        Some(name) => {
            let (folder, name) = (folder.display(), name.display());
            let message = format!("--series {folder}: it already has patches, such as {name}; nothing was written");
            Err(usage(message).into())
        }
        None => Ok(()),
    }
}

/// Writes the patches.
pub(crate) fn write(
    project: &Project,
    recipes: &RecipeSet,
    options: &Options,
    author: &Author,
    folder: &Path,
) -> Result<()> {
    let mut steps = codemod::series(&project.sources(), recipes, options);
    if steps.is_empty() {
        say_line!("portolan: nothing changes, so {} gets no patches", folder.display());
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("{} can't be created", folder.display()))?;
    let notebooks = project.notebooks();
    let readable: Vec<_> = project.inputs.iter().filter(|input| input.text.is_ok()).collect();
    let mut texts: Vec<Option<String>> = vec![None; readable.len()];
    let mut added: Vec<String> = Vec::new();
    let total = steps.len();
    let _watch = interruption::watch();
    for (number, step) in steps.iter_mut().enumerate() {
        if interruption::came().is_some() {
            let message =
                format!("{} has only a part of the patches: delete them before the next run", folder.display());
            return Err(Interrupted::saying(message).into());
        }
        step.ported.put_back(&notebooks);
        let mut patch = String::new();
        for ((input, file), text) in readable.iter().zip(&step.ported.files).zip(&mut texts) {
            let Some((original, now)) = input.before_and_after(file) else { continue };
            // A notebook that no edit changes keeps bytes that its program does not have.
            let now = if file.changed { now } else { original };
            patch += &codemod::git_patch_of(&file.path, text.as_deref().unwrap_or(original), now);
            *text = Some(now.to_owned());
        }
        for file in step.ported.new_files().filter(|file| project.has(file).is_none()) {
            if !added.contains(&file.path) {
                patch += &codemod::git_patch_of_new(&file.path, &file.text);
                added.push(file.path.clone());
            }
        }
        let message = Message::of(step, recipes);
        let name = format!("{:04}-{}", number + 1, file_name(&message.subject));
        let mail = message.mail(author, (number + 1, total), &patch);
        let path = folder.join(name);
        let written = New::beside(&path).and_then(|new| new.fill(|new| fs::write(new, mail))?.rename(&path));
        written.with_context(|| format!("{} can't be written", path.display()))?;
    }
    let (patches, is) = (count(total, "patch").replace("patchs", "patches"), if total == 1 { "is" } else { "are" });
    let root = project.root.as_deref().and_then(|root| fs::canonicalize(root).ok());
    let within = root.and_then(|root| repository_of(&root));
    let within = within.map_or_else(String::new, |(_, within)| format!("--directory={} ", within.display()));
    say_line!("portolan: {patches} {is} in {0}; to commit: git am {within}{0}/*.patch", folder.display());
    Ok(())
}

/// A commit message.
struct Message {
    subject: String,
    body: String,
}

impl Message {
    fn of(step: &SeriesStep, recipes: &RecipeSet) -> Message {
        let ported = &step.ported;
        let infos = recipes.recipes_for(&ported.target).iter();
        let infos: Vec<&RecipeInfo> = infos.filter(|recipe| step.recipes.contains(&recipe.id)).collect();
        // In the order of the step: the others are there for the first.
        let of_step = || step.recipes.iter().filter_map(|id| infos.iter().find(|recipe| recipe.id == *id));
        let mut edits = ported.files.iter().flat_map(|file| &file.edits);
        let is_unsafe =
            edits.any(|edit| edit.applicability == Applicability::Unsafe && step.recipes.contains(&edit.recipe));
        let mut body = String::new();
        for (number, RecipeInfo { title, reason, source, citations, holds_for, .. }) in of_step().enumerate() {
            if number > 0 {
                body += &wrapped(&format!("With it: {title}."));
            }
            body += &wrapped(reason);
            body += "\n";
            body += &wrapped(&format!("Source: {source}"));
            for citation in citations {
                let _ = writeln!(body, "  {}", citation.url);
            }
            body += &wrapped(&format!("Holds for: {holds_for}"));
            body += "\n";
        }
        if is_unsafe {
            body += &wrapped("This may change what the program computes; applied by --unsafe.");
            body += "\n";
        }
        of_step().for_each(|recipe| body += &format!("Recipe: {}\n", recipe.id));
        let title = of_step().next().map_or("Port", |recipe| recipe.title.as_str());
        Message { subject: format!("{}: {title}", ported.target), body }
    }

    /// The message with its patch, as a mail.
    fn mail(&self, author: &Author, (number, total): (usize, usize), patch: &str) -> String {
        let Author { name, email } = author;
        let digits = total.to_string().len();
        // `git am` strips a carriage return at the end of a line that is not encoded.
        let is_encoded = patch.contains('\r');
        let encoding = if is_encoded { "quoted-printable" } else { "8bit" };
        let version = env!("CARGO_PKG_VERSION");
        let body = format!("{}---\n{patch}-- \nportolan {version}\n\n", self.body);
        format!(
            "From {} Mon Sep 17 00:00:00 2001\nFrom: {name} <{email}>\n\
             Subject: [PATCH {number:0digits$}/{total}] {}\nMIME-Version: 1.0\n\
             Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: {encoding}\n\n{}",
            "0".repeat(40),
            self.subject,
            if is_encoded { quoted_printable(&body) } else { body }
        )
    }
}

/// The name that `git format-patch` gives the file of a commit, without its number.
fn file_name(subject: &str) -> String {
    let mut name = String::new();
    for char in subject.chars() {
        match char {
            char if char.is_ascii_alphanumeric() || char == '_' => name.push(char),
            '.' if !name.ends_with('.') => name.push('.'),
            _ if !name.ends_with(['-', '.']) => name.push('-'),
            _ => {}
        }
    }
    name.truncate(LONGEST_NAME - "0001-.patch".len());
    name.trim_end_matches(['.', '-']).to_owned() + ".patch"
}

/// A paragraph of a commit message.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    // Where `git am` would see the end of the message, the start of a patch or a header.
    let means_more = |line: &String| {
        let starts = ["---", "diff ", "diff\t", "Index: ", "From ", ">From ", "From:", "Subject:", "Date:"];
        starts.iter().any(|start| line.starts_with(start))
    };
    let lines = lines.iter().map(|line| if means_more(line) { format!(" {line}\n") } else { format!("{line}\n") });
    lines.collect()
}

/// A text in the encoding that keeps every byte of a mail's line.
fn quoted_printable(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        for (at, byte) in line.bytes().enumerate() {
            let is_last = at + 1 == line.len();
            match byte {
                b' ' | b'\t' if !is_last => out.push(byte as char),
                b'!'..=b'<' | b'>'..=b'~' => out.push(byte as char),
                byte => {
                    let _ = write!(out, "={byte:02X}");
                }
            }
        }
        out += end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{file_name, quoted_printable, wrapped};

    #[test]
    fn names_are_those_of_format_patch() {
        let check = |subject, expected| assert_eq!(file_name(subject), expected);
        check("hpu: Move the model", "hpu-Move-the-model.patch");
        check("a..b (c), größe!", "a.b-c-gr-e.patch");
        check(&"x".repeat(90), &format!("{}.patch", "x".repeat(53)));
    }

    #[test]
    fn a_message_is_wrapped_and_means_nothing_else() {
        assert_eq!(
            wrapped(&"word ".repeat(20)),
            format!("{}\n{}\n", "word ".repeat(14).trim(), "word ".repeat(6).trim())
        );
        assert_eq!(wrapped("--- a"), " --- a\n");
        assert_eq!(wrapped("Subject: a"), " Subject: a\n");
    }

    #[test]
    fn bytes_are_kept() {
        assert_eq!(quoted_printable("a = é \r\n \n"), "a =3D =C3=A9 =0D\n=20\n");
    }
}
