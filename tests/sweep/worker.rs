//! A process that ports texts one after the other: a job per line on standard input, the result as a line on standard
//! output.
//!
//! Before each port it announces which one it begins, so that the parent process knows what it hangs in or died of.

use crate::memory;
use codemod::{Options, RecipeSet, Style};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::Path;
use tests::cpython::CPython;
use tests::examine::{Seen, Subject, examine, name_of};
use tests::faults::{Fault, Kind};
use tests::patches;

/// Works until standard input ends.
pub(crate) fn work(python: &str) -> Result<(), String> {
    let recipes = RecipeSet::embedded();
    let targets: Vec<String> = recipes.targets().into_iter().map(|target| target.id).collect();
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

/// Performs the requested ports of a text, and checks the results.
fn run(job: &Value, recipes: &RecipeSet, targets: &[String], cpython: &mut CPython) -> Result<Value, String> {
    let path = job["path"].as_str().unwrap_or("file.py");
    let bytes = match (job["text"].as_str(), job["file"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(file)) => std::fs::read(file).map_err(|error| format!("{file}: {error}"))?,
        (None, None) => return Err("a job names no text".to_owned()),
    };
    let Ok(text) = String::from_utf8(bytes) else { return Ok(json!({ "skipped": "not UTF-8" })) };
    let lines = text.lines().count();
    say(&json!({ "at": ["", "CPython"] }));
    let original = match cpython.look(&text, true) {
        Ok(said) => said,
        Err(fault) => return Ok(json!({ "skipped": fault, "lines": lines })),
    };
    let mut subject = Subject::new(path, &text, original);
    let only = |name: &str, n: usize| job["only"][n].as_str().is_none_or(|wanted| wanted == name);
    let mut ports = Vec::new();
    for target in targets.iter().filter(|target| only(target, 0)) {
        // Branch style changes nothing if a program has no compute modes; the engine's default is then to port in
        // place.
        let wanted = job["only"][1].as_str();
        let mut styles = vec![if wanted == Some(name_of(Style::InPlace)) { Style::InPlace } else { Style::Auto }];
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
            if style == Style::Auto && seen.style != Style::InPlace && wanted.is_none() {
                styles.push(Style::InPlace);
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
        for ((target, style), fault) in patches::check(Path::new(path), &text, &subject.changed)? {
            for port in ports.iter_mut().filter(|port| port["target"] == target.as_str() && port["style"] == style) {
                port["faults"].as_array_mut().into_iter().for_each(|faults| faults.push(fault.to_json()));
            }
        }
    }
    Ok(json!({ "lines": lines, "python": subject.original.refused.is_none(), "ports": ports }))
}
