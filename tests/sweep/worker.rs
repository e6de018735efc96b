//! A process that ports files or projects one after the other: a job per line on standard input, the result as a line on standard
//! output.
//!
//! Before each port it announces which one it begins, so that the parent process knows what it hangs in or died of.

use crate::memory;
use codemod::{Options, RecipeSet, SourceFile, Style, TargetInfo};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use tests::cpython::{CPython, Said};
use tests::examine::{Seen, Subject, examine, name_of};
use tests::faults::{Fault, Kind};
use tests::patches;

/// Works until standard input ends.
pub(crate) fn work(python: &str) -> Result<(), String> {
    let recipes = RecipeSet::embedded();
    let targets = recipes.targets();
    let mut cpython = CPython::new(python);
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lock().lines() {
        let job: Value = serde_json::from_str(&line.map_err(|error| error.to_string())?).map_err(|e| e.to_string())?;
        let result = run(&job, recipes, &targets, &mut cpython)?;
        say(&json!({ "result": result }));
    }
    Ok(())
}

fn say(value: &Value) {
    let mut out = std::io::stdout().lock();
    // The output was closed: there will be no further input either.
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}

/// Performs the requested ports of a file or a project, and checks the results.
fn run(job: &Value, recipes: &RecipeSet, targets: &[TargetInfo], cpython: &mut CPython) -> Result<Value, String> {
    let mut subject = Vec::new();
    for source in job["sources"].as_array().into_iter().flatten() {
        let path = source["path"].as_str().unwrap_or("file.py").to_owned();
        let bytes = match (source["text"].as_str(), source["file"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(file)) => std::fs::read(file).map_err(|error| format!("{file}: {error}"))?,
            (None, None) => return Err("a job names no text".to_owned()),
        };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        say(&json!({ "at": [path, "CPython"] }));
        let look = || {
            let said = cpython.look(&text, true);
            said.unwrap_or_else(|why| Said { failed: Some(why), ..Said::default() })
        };
        let original = path.ends_with(".py").then(look);
        subject.push((SourceFile { path, text }, original));
    }
    if subject.is_empty() {
        return Ok(json!({ "skipped": "nothing that can be read" }));
    }
    let lines: usize =
        subject.iter().filter(|(_, said)| said.is_some()).map(|(file, _)| file.text.lines().count()).sum();
    let mut subject = Subject::project(subject);
    let only = |name: &str, n: usize| job["only"][n].as_str().is_none_or(|wanted| wanted == name);
    let mut ports = Vec::new();
    for TargetInfo { id: target, is_device, .. } in targets.iter().filter(|target| only(&target.id, 0)) {
        // Branch style changes nothing if a program has no compute modes, so the engine takes it; the others are examined, too.
        let wanted = job["only"][1].as_str();
        let is_wanted = |style: &Style| wanted == Some(name_of(*style));
        let first = [Style::InPlace, Style::Agnostic].into_iter().find(is_wanted).unwrap_or_default();
        let mut styles = vec![first];
        while let Some(style) = styles.pop() {
            say(&json!({ "at": [target, name_of(style)] }));
            memory::forget_peak();
            let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let options = Options { target: target.clone(), style, ..Options::default() };
                examine(&mut subject, recipes, &options, cpython)
            }));
            let seen = seen.unwrap_or_else(|panic| {
                let message = panic.downcast_ref::<String>().cloned();
                let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                let message = message.unwrap_or_else(|| "no message".to_owned());
                Seen::broken(Fault::new(Kind::Panic, &message, &message))
            });
            if style == Style::Agnostic && seen.style != Style::Agnostic {
                continue;
            }
            if style == Style::Auto && wanted.is_none() {
                let others = [Style::InPlace, Style::Agnostic].into_iter().filter(|other| *other != seen.style);
                styles.extend(others.filter(|other| *is_device || *other == Style::InPlace));
            }
            if wanted == Some(name_of(Style::Branch)) && seen.style == Style::InPlace {
                continue;
            }
            ports.push(json!({
                "target": target,
                "style": name_of(seen.style),
                "changed": seen.changed,
                "ported": seen.ported,
                "ms": seen.milliseconds,
                "mib": memory::peak_mib(),
                "mentions": [seen.mentions.all, seen.mentions.unreported],
                "places": [seen.places.all, seen.places.unreported],
                "faults": seen.faults.iter().map(Fault::to_json).collect::<Vec<_>>(),
            }));
        }
    }
    if job["patches"] == true {
        say(&json!({ "at": ["", "git apply"] }));
        for (port, fault) in patches::check(&subject.files, &subject.changed)? {
            let of_port = |one: &&mut Value| one["target"] == port.target.as_str() && one["style"] == port.style;
            for port in ports.iter_mut().filter(of_port) {
                port["faults"].as_array_mut().into_iter().for_each(|faults| faults.push(fault.to_json()));
            }
        }
    }
    Ok(json!({ "lines": lines, "python": subject.is_python(), "ports": ports }))
}
