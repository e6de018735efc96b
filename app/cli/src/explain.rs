//! `portolan explain`: which sections of the guides answer a log, and what the port did in the user's lines of its traceback.

use crate::args::{ExplainArgs, ListFormat};
use crate::messages::word;
use crate::output::print;
use crate::port::unknown_target;
use crate::project::Project;
use crate::reading::text_of;
use crate::said::say_line;
use anyhow::{Context, Result, bail};
use codemod::{
    Candidate, Explanation, Frame, LeftOnHost, Options, PortedProject, RecipeSet, Side, embedded_guides, explain,
    left_on_host, port,
};
use python::SourceFile;
use serde_json::json;
use std::fmt::Write;
use std::io::Read;

/// Only this many bytes at the end of a log are kept in memory. The engine reads fewer.
const LONGEST: usize = 4 << 20;

/// Prints what is known about the log; returns whether something is.
pub(crate) fn run(args: &ExplainArgs) -> Result<bool> {
    let recipes = RecipeSet::embedded();
    let targets = recipes.targets();
    if let Some(id) = args.target.as_ref().filter(|id| !targets.iter().any(|target| target.id == **id)) {
        return Err(unknown_target(id, &targets).into());
    }
    let (log, above) = read(args)?;
    let target = args.target.as_deref();
    let mut left = Vec::new();
    let mut found = match (&args.project, target) {
        (Some(path), Some(target)) => {
            let project = Project::read(std::slice::from_ref(path), None)?;
            let text = |input: &crate::project::Input| {
                Some(SourceFile { path: input.path.clone(), text: input.text.clone().ok()? })
            };
            let files: Vec<SourceFile> = project.inputs.iter().filter_map(text).collect();
            if let (true, Some(Err(refused))) = (files.is_empty(), project.inputs.first().map(|input| &input.text)) {
                bail!("{}: {}", project.inputs[0].shown, refused.message);
            }
            let all = Options { target: target.to_owned(), ..Options::default() };
            let own = Options { rejected_recipes: args.rejected.clone(), ..all.clone() };
            let ported = port(&files, recipes, &own);
            let unrejected = (own != all).then(|| port(&files, recipes, &all));
            let project = PortedProject { files: &files, ported: &ported, unrejected: unrejected.as_ref() };
            let found = explain(&log, embedded_guides(), Some(target), Some(project));
            left = left_on_host(&found, &ported, &recipes.target_facts(target));
            found
        }
        _ => explain(&log, embedded_guides(), target, None),
    };
    found.candidates.iter_mut().for_each(|candidate| candidate.line += above);
    let known = !found.candidates.is_empty();
    match args.format {
        ListFormat::Json => print(&format!(
            "{:#}\n",
            json!({ "known": known, "candidates": found.candidates, "frames": found.frames })
        ))?,
        ListFormat::Text => {
            print(&text(&found, &left))?;
            if args.project.is_some() && found.frames.is_empty() {
                say_line!("portolan: this log names no line of the project's files");
            }
            if !known {
                say_line!(
                    "portolan: not known here: no section of the guides answers a line of this log. If the log has an earlier \
                     error, pass that part, too: the first exception is usually the cause"
                );
            }
        }
    }
    Ok(known)
}

/// The end of the log, and the number of lines above it.
fn read(args: &ExplainArgs) -> Result<(String, usize)> {
    let shown = args.log.display();
    let (bytes, above) = if args.log.as_os_str() == "-" {
        end_of(std::io::stdin().lock()).context("standard input can't be read")?
    } else {
        if args.log.is_dir() {
            bail!("{shown} is a folder: name the file of the log");
        }
        let file = std::fs::File::open(&args.log).with_context(|| format!("{shown} can't be read"))?;
        end_of(file).with_context(|| format!("{shown} can't be read"))?
    };
    match text_of(without_zeros(bytes)) {
        Ok(text) => Ok((text, above)),
        Err(refused) => bail!("{shown}:{}: {}", above + refused.original.line, refused.message),
    }
}

/// A log without the zero bytes that several writers, or a full disk, leave in one; a binary file has many.
fn without_zeros(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.iter().filter(|byte| **byte == 0).count() * 10 < bytes.len() {
        bytes.retain(|byte| *byte != 0);
    }
    bytes
}

/// The last whole lines that fit into memory, and the number of those before them.
fn end_of(mut from: impl Read) -> std::io::Result<(Vec<u8>, usize)> {
    let (mut bytes, mut above) = (Vec::new(), 0);
    let mut chunk = vec![0; 1 << 16];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return Ok((bytes, above)),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(&chunk[..read]);
        if bytes.len() > 2 * LONGEST {
            let from = bytes.len() - LONGEST;
            // A log of one line that is longer than all this is cut between two characters.
            let line = bytes[from..].iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let character = || bytes[from..].iter().position(|byte| *byte & 0xc0 != 0x80);
            let cut = from + line.or_else(character).unwrap_or(0);
            above += bytes[..cut].iter().filter(|byte| **byte == b'\n').count();
            bytes.drain(..cut);
        }
    }
}

fn text(found: &Explanation, left: &[LeftOnHost]) -> String {
    let mut out = String::new();
    for (index, candidate) in found.candidates.iter().enumerate() {
        let Candidate { section, title, cause, remedy, source, line, text, operation, .. } = candidate;
        let _ = writeln!(out, "{}. {title} [{section}]", index + 1);
        let mut part = |name: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(out, "   {name:7} {text}");
            }
        };
        part("line", &format!("{line}: {}", shortened(text)));
        part("cause", cause);
        if let Some(operation) = operation {
            let listed = match &operation.listed {
                Some(entry) => format!("{} is {entry}, in the list of what the target lacks", operation.name),
                None => format!("{} is not listed as missing on the target", operation.name),
            };
            part("op", &listed);
        }
        part("remedy", remedy);
        part("source", source);
    }
    if !found.frames.is_empty() {
        out += "Your lines in the traceback, the innermost first:\n";
    }
    for frame in &found.frames {
        let Frame { path, line, code, side, .. } = frame;
        let (ported, original) = frame.shown();
        let of = match side {
            Side::Ported => format!("{ported} of the port, {original} of the original"),
            Side::Original => format!("{original} of the original, {ported} of the port"),
            Side::Neither => "neither in the original nor in the port: the file that ran differs".to_owned(),
        };
        let _ = writeln!(out, "   {path}:{line}: {}\n      {of}", shortened(code));
        for changed in &frame.recipes {
            let what = if changed.rejected { "rejected" } else { "ported" };
            let _ = writeln!(out, "      {what}: {} [{}]", changed.title, changed.recipe);
        }
        for message in &frame.messages {
            let _ = writeln!(out, "      {}[{}] {}", word(message.severity), message.recipe, message.message);
        }
    }
    if !left.is_empty() {
        out += "Not moved to the device in the port:\n";
    }
    for LeftOnHost { path, line, code, names } in left {
        let _ = writeln!(out, "   {path}:{line}: {}\n      move {} above this line", shortened(code), names.join(", "));
    }
    out
}

/// A line of the log or of a program, for a terminal.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, end_of};

    #[test]
    fn the_end_of_a_long_log_is_kept() {
        let log = format!("{}the end\n", "line é\n".repeat(2_000_000));
        let (bytes, above) = end_of(log.as_bytes()).expect("it is in memory");
        let text = String::from_utf8(bytes).expect("it is not cut within a character");
        assert!(text.len() <= 2 * LONGEST && text.starts_with("line é\n") && text.ends_with("the end\n"));
        assert_eq!(above + text.matches('\n').count(), 2_000_001);
        let (bytes, above) = end_of("é".repeat(3 * LONGEST).as_bytes()).expect("it is in memory");
        assert!(String::from_utf8(bytes).is_ok_and(|text| !text.is_empty()) && above == 0);
        assert_eq!(end_of(&b"short"[..]).expect("it is in memory"), (b"short".to_vec(), 0));
    }
}
