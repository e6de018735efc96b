//! The run over a list of files: all ports, the report, the minimized cases.

use crate::arguments::Arguments;
use crate::pool::{Outcome, Worker, job, run_all};
use crate::report::{Case, Report};
use crate::table;
use codemod::{RecipeSet, Style};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use tests::examine::name_of;
use tests::faults::{Fault, Kind};
use tests::shrink;

/// What is ported together: one file, or a project.
struct Subject {
    shown: String,
    /// The file; of a project its folder's first.
    file: PathBuf,
    /// Each with its path and its file.
    sources: Value,
}

/// Ports every file of the list, or every project. Returns whether there are no faults.
pub(crate) fn run(arguments: &Arguments) -> Result<bool, String> {
    let start = Instant::now();
    let list = fs::read_to_string(&arguments.list).map_err(|e| format!("{}: {e}", arguments.list.display()))?;
    let files: Vec<(&str, &str)> = list.lines().filter_map(|line| line.split_once('\t')).collect();
    let subjects = if arguments.projects { projects(&files) } else { files.iter().map(single).collect() };
    let report = Mutex::new(Report::default());
    let in_time = || arguments.minutes.is_none_or(|minutes| start.elapsed().as_secs_f64() < minutes * 60.0);
    let jobs = subjects.iter().take_while(|_| in_time());
    run_all(arguments, jobs, |worker, subject| {
        let result = port(worker, &subject.sources)?;
        if let Ok(mut report) = report.lock() {
            report.add(&subject.shown, &subject.file, &result);
            if arguments.projects {
                println!("    {} of {}: {}", report.files, subjects.len(), table::project(&subject.shown, &result));
            } else if report.files % 1000 == 0 {
                println!("    {} of {} files, {:.0} s", report.files, subjects.len(), start.elapsed().as_secs_f64());
            }
        }
        Ok(())
    })?;
    let report = report.into_inner().map_err(|_| "a thread ended early")?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", table::summary(&report, arguments, seconds));
    if let Some(place) = &arguments.table {
        let text = table::page(&report, arguments, seconds, files.len()) + &kept(place);
        fs::write(place, text).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    list_faults(arguments, &report)?;
    Ok(Kind::ALL.into_iter().all(|kind| kind.is_allowed() || report.count(kind) == 0))
}

fn single((shown, file): &(&str, &str)) -> Subject {
    Subject { shown: (*shown).to_owned(), file: file.into(), sources: json!([{ "path": shown, "file": file }]) }
}

/// The files by their projects, the first part of their names: those that a port of a folder reads.
fn projects(files: &[(&str, &str)]) -> Vec<Subject> {
    let mut projects: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (shown, file) in files {
        let (project, path) = shown.split_once('/').unwrap_or((shown, shown));
        if path.ends_with(".py") || codemod::is_configuration(path) {
            projects.entry(project).or_default().push((path, file));
        }
    }
    let subjects = projects.into_iter().map(|(project, mut files)| {
        files.sort_unstable();
        let sources = files.iter().map(|(path, file)| json!({ "path": path, "file": file }));
        Subject { shown: project.to_owned(), file: files[0].1.into(), sources: sources.collect() }
    });
    subjects.collect()
}

/// The part of the page after the sweep's own part.
fn kept(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap_or_default();
    text.find("\n## Fuzzing").map_or_else(String::new, |at| text[at..].to_owned())
}

/// A file or a project in every way; a way in which the process dies or hangs is a fault, and the others are then tried separately.
fn port(worker: &mut Worker<'_>, sources: &Value) -> Result<Value, String> {
    let broken = match worker.run(&job(sources, None, true))? {
        Outcome::Done(result) => return Ok(result),
        Outcome::Died(at) | Outcome::Late(at) => at,
    };
    let mut whole = json!({ "lines": 0, "ports": [] });
    for target in RecipeSet::embedded().targets() {
        for style in [Style::InPlace, Style::Branch, Style::Agnostic].map(name_of) {
            let ported = match worker.run(&job(sources, Some((&target.id, style)), true))? {
                Outcome::Done(mut result) => {
                    let ports = result["ports"].take();
                    if let Some(lines) = result["lines"].as_u64() {
                        whole["lines"] = lines.into();
                    }
                    whole["python"] = result["python"].take();
                    ports[0].clone()
                }
                Outcome::Died(_) => failed(&target.id, style, Kind::Panic, &broken),
                Outcome::Late(_) => failed(&target.id, style, Kind::TimeOut, &broken),
            };
            // A file without compute modes has no port in branch style, and some targets are no devices.
            let ports = whole["ports"].as_array_mut().filter(|_| ported.is_object());
            ports.into_iter().for_each(|ports| ports.push(ported.clone()));
        }
    }
    Ok(whole)
}

fn failed(target: &str, style: &str, kind: Kind, at: &[String; 2]) -> Value {
    let fault = Fault::new(kind, "process", format!("the process ended in {} {}", at[0], at[1]));
    json!({ "target": target, "style": style, "faults": [fault.to_json()] })
}

/// Prints the faults by class, with the smallest file of each minimized, and writes them into the folder.
fn list_faults(arguments: &Arguments, report: &Report) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", arguments.out.display());
    let _ = fs::remove_dir_all(&arguments.out);
    fs::create_dir_all(&arguments.out).map_err(told)?;
    let mut sorts: Vec<_> = report.sorts.iter().collect();
    sorts.sort_by_key(|((kind, _), cases)| (*kind, std::cmp::Reverse(cases.len())));
    let mut every = String::new();
    for ((kind, class), cases) in &sorts {
        for Case { shown, way, detail, .. } in *cases {
            every += &json!([kind.name(), class, shown, way.0, way.1, detail]).to_string();
            every.push('\n');
        }
    }
    fs::write(arguments.out.join("faults.jsonl"), every).map_err(told)?;
    let cases = sorts.iter().enumerate().flat_map(|(n, ((kind, class), cases))| {
        let mut cases: Vec<&Case> = cases.iter().collect();
        cases.sort_by_key(|case| case.lines);
        cases.dedup_by_key(|case| &case.shown);
        let count = cases.len();
        cases.into_iter().take(arguments.small).map(move |case| (n, *kind, class.as_str(), case, count))
    });
    let printed = Mutex::new(());
    run_all(arguments, cases.collect::<Vec<_>>().into_iter(), |worker, (n, kind, class, case, count)| {
        let small = small(worker, kind, class, case)?;
        let place = name(&arguments.out, n, kind, case);
        fs::write(&place, &small).map_err(told)?;
        let printed = printed.lock();
        println!("\n{} ({class}): {count} files. {} to {} {}", kind.name(), case.shown, case.way.0, case.way.1);
        println!("  {}\n  {}", case.detail.trim_end(), place.display());
        small.lines().take(20).for_each(|line| println!("    | {line}"));
        drop(printed);
        Ok(())
    })
}

fn name(folder: &Path, n: usize, kind: Kind, case: &Case) -> PathBuf {
    let mut n = n * 100;
    loop {
        let place = folder.join(format!("{n:05}-{}-{}-{}.py", kind.name().replace(' ', "-"), case.way.0, case.way.1));
        if !place.exists() {
            return place;
        }
        n += 1;
    }
}

/// The minimized case. A text that CPython rejects is not a valid case if it accepts the original.
fn small(worker: &mut Worker<'_>, kind: Kind, class: &str, case: &Case) -> Result<String, String> {
    let text = fs::read_to_string(&case.file).map_err(|error| error.to_string())?;
    let mut error = None;
    let small = shrink::shrink(&text, |text| {
        if error.is_some() {
            return false;
        }
        let only = Some((case.way.0.as_str(), case.way.1.as_str()));
        match worker.run(&job(&json!([{ "path": case.shown, "text": text }]), only, kind == Kind::Patch)) {
            Ok(Outcome::Done(result)) => {
                let faults = result["ports"][0]["faults"].as_array().into_iter().flatten();
                result["python"] == true
                    && faults.filter_map(Fault::from_json).any(|fault| fault.kind == kind && fault.class == class)
            }
            Ok(Outcome::Died(_)) => kind == Kind::Panic,
            Ok(Outcome::Late(_)) => kind == Kind::TimeOut,
            Err(fault) => {
                error = Some(fault);
                false
            }
        }
    });
    error.map_or(Ok(small), Err)
}
