//! Data written by older versions can still be read: shared links, work stored in a browser, ids of recipes.
//! `tests/frozen/README.md` describes it.

use codemod::{Example, RecipeSet, SourceFile, pack_examples, port};
use flate2::read::DeflateDecoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use web::port::state::State;
use web::port::state::fragment::{ExampleId, Fragment, Share, parse};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("frozen")
}

/// The files of a folder, by name.
fn files_of(kind: &str) -> BTreeMap<String, Value> {
    let entries = std::fs::read_dir(folder().join(kind)).expect("the folder is there").flatten();
    let files = entries.map(|entry| {
        let text = std::fs::read_to_string(entry.path()).expect("a frozen file is text");
        let value = serde_json::from_str(&text).expect("a frozen file is JSON");
        (entry.file_name().to_string_lossy().into_owned(), value)
    });
    files.collect()
}

/// The files of `work/`, by name.
fn frozen() -> BTreeMap<String, Value> {
    files_of("work")
}

/// The links of a page, each with its origin and its contents.
fn links_of(page: &str, carries: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let files = files_of(page);
    assert!(files.len() >= 2, "{page}");
    let entries = files.values().flat_map(|file| file.as_array().expect("a list of links"));
    let links = entries.map(|entry| {
        let link = entry["link"].as_str().expect("a link").to_owned();
        (link, serde_json::from_value(entry[carries].clone()).expect("names and values"))
    });
    links.collect()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap_or_default();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}

fn share_of(link: &str) -> Share {
    let Fragment::Share(deflated) = parse(link) else { panic!("{link} is a shared project") };
    let mut inflated = Vec::new();
    DeflateDecoder::new(&*deflated).read_to_end(&mut inflated).expect("a link is deflated");
    Share::from_bytes(&inflated).expect("an old link opens")
}

fn as_json(share: &Share) -> Value {
    let Share { files, selected, choice, recipes, edits } = share;
    let mut json =
        json!({ "files": files, "selected": selected, "choice": choice, "recipes": recipes, "edits": edits });
    // Links had this one switch at first, and have both in its byte.
    let switches = json["choice"].as_object_mut().and_then(|choice| choice.remove("switches"));
    assert_eq!(switches, Some(json!(u8::from(choice.switches))));
    json["choice"]["allow_unsafe"] = json!(choice.switches.allow_unsafe);
    if !choice.guides.is_empty() {
        json["guides"] = json!(&*choice.guides);
    }
    json
}

#[test]
fn old_links_open() {
    let frozen = frozen();
    assert!(frozen.len() >= 4, "{frozen:?}");
    for (name, file) in &frozen {
        let share = share_of(file["link"].as_str().expect("a link"));
        assert_eq!(as_json(&share), file["share"], "{name}");
    }
}

#[test]
fn what_an_old_link_turns_off_stays_off() {
    let recipes = RecipeSet::embedded();
    for (name, file) in &frozen() {
        let share = share_of(file["link"].as_str().expect("a link"));
        let mut state = State::default();
        state.open_share(share.clone());
        let edits = |options| {
            let ported = port(&state.sources(), recipes, &options);
            let edits = ported.files.into_iter().flat_map(|file| file.edits);
            edits.map(|edit| (edit.id, edit.recipe)).collect::<Vec<_>>()
        };
        let off = |edits: &[(String, String)]| {
            let of_edits = share.edits.iter().filter(|off| edits.iter().any(|(id, _)| *id == off.id)).count();
            of_edits + share.recipes.iter().filter(|off| edits.iter().any(|(_, recipe)| recipe == *off)).count()
        };
        let mut all = state.options();
        (all.rejected_recipes, all.rejected_edits) = Default::default();
        assert_eq!(off(&edits(all)), 2, "{name}: the edit and the recipe are found in a port of today");
        let left = edits(state.options());
        assert_eq!((off(&left), left.is_empty()), (0, false), "{name}: {left:?}");
    }
}

#[test]
fn kept_work_comes_back_with_all_that_was_kept_beside_it() {
    let mut versions = Vec::new();
    for (name, file) in frozen().iter().filter(|(_, file)| file["open"].is_string()) {
        let (open, beside) = (bytes(&file["open"]), bytes(&file["beside"]));
        versions.push(beside[0]);
        let mut state = State::default();
        state.restore(Share::from_bytes(&open), &beside);
        assert_eq!(as_json(&state.share()), file["share"], "{name}");
        assert_eq!(state.ticked.len(), if beside[0] == 1 { 0 } else { 2 }, "{name}: what was ticked off");
        assert!(state.has_former(), "{name}");
        if beside[0] >= 3 {
            let kept = state.beside();
            assert!(
                kept[1..].starts_with(&beside[1..]),
                "{name}: the twin run is in it, and it would be kept as it was"
            );
            assert_eq!(kept == beside, beside[0] >= 4, "{name}: only what this version kept is all that it keeps");
        }
        state.bring_back();
        let SourceFile { path, text } = &state.sources()[0];
        assert_eq!((path.as_str(), text.lines().count()), ("own.py", 2), "{name}");
        let own = if beside[0] == 1 { "hpu" } else { "xpu" };
        assert_eq!(state.choice.target, own, "{name}: the target that was chosen before the link came");
    }
    versions.sort_unstable();
    assert_eq!(versions, [1, 2, 3, 4, 5]);
}

#[test]
fn old_links_of_launches_open() {
    for (link, mut fields) in links_of("launch", "fields") {
        // The field's current name.
        if let Some(devices) = fields.remove("ipus-per-replica") {
            fields.insert("devices-per-replica".to_owned(), devices);
        }
        let mut state = web::launch::state::State::at(&link);
        assert!(state.fields.iter().eq(&fields), "{link}: {:?}", state.fields);
        if let Some(text) = state.site_file_to_read().map(str::to_owned) {
            let site = launch::read_site(&text);
            state.site_file_read(text, site);
        }
        let form: Vec<_> = state.form().into_iter().flat_map(|group| group.fields).map(|field| field.name).collect();
        let lost: Vec<_> = fields.keys().filter(|name| !form.contains(name)).collect();
        assert!(lost.is_empty(), "{link}: no field of today's form takes {lost:?}");
        let problems = state.written().err().unwrap_or_default();
        // A site file has its own format: keys that no longer exist are named.
        let is_named = |problem: &launch::Problem| problem.message.starts_with("line 15: unknown field `mpirun`");
        let is_right =
            if fields.contains_key("site-file") { problems.iter().all(is_named) } else { problems.is_empty() };
        assert!(is_right, "{link}: {problems:?}");
    }
}

#[test]
fn old_links_of_checks_open() {
    for (link, values) in links_of("check", "choice") {
        let (choice, faults) = web::check::state::choice::Choice::from_fragment(&link);
        assert_eq!(faults, Vec::<String>::new(), "{link}");
        for (key, value) in &values {
            // The only change: see README.md.
            let is_first = link == "#height=128&seed=11";
            let value = if is_first && key == "weights" { "sample" } else { value };
            assert_eq!(choice.get(key).as_deref(), Some(value), "{link}: {key}");
        }
    }
}

/// Ids of recipes, and the notes about removed ones.
fn ids(list: &str) -> Vec<(&str, Option<&str>)> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split_once(" gone: ").map_or((line, None), |(id, instead)| (id, Some(instead)))).collect()
}

#[test]
fn a_recipe_keeps_its_id() {
    let list = std::fs::read_to_string(folder().join("recipes.txt")).expect("the list is there");
    let recipes = RecipeSet::embedded().recipes();
    let ids = ids(&list);
    for (id, gone) in &ids {
        let is_there = recipes.iter().any(|recipe| recipe.id == *id);
        assert_eq!(is_there, gone.is_none(), "{id} names no recipe any more: say in recipes.txt what there is instead");
    }
    let new = recipes.iter().find(|recipe| !ids.iter().any(|(id, _)| *id == recipe.id));
    assert_eq!(new.map(|recipe| &recipe.id), None, "is a new recipe: add it to tests/frozen/recipes.txt");
}

#[test]
fn an_example_that_a_link_names_opens() {
    let list = std::fs::read_to_string(folder().join("recipes.txt")).expect("the list is there");
    let guides = folder().join("../../guides");
    let files: Vec<(String, String)> = std::fs::read_dir(&guides)
        .expect("the guides are there")
        .flatten()
        .map(|entry| (entry.path().display().to_string(), std::fs::read_to_string(entry.path()).expect("UTF-8")))
        .collect();
    let pages = guide::pages(files.iter().map(|(path, text)| (&**path, &**text))).expect("guides of ours are right").0;
    let packed = |name: &str| {
        let path = guides.join(format!("{name}.md")).display().to_string();
        let page = pages.iter().find(|page| page.path == path).expect("a guide that had recipes is there");
        pack_examples(&page.parse().expect("a guide of ours is right"))
    };
    let mut of_guides: BTreeMap<String, String> = BTreeMap::new();
    for (id, _) in ids(&list).into_iter().filter(|(_, gone)| gone.is_none()) {
        let Fragment::Example(ExampleId { guide, section, number }) =
            parse(&format!("#example={}/1", id.replace('#', "/")))
        else {
            panic!("{id} makes no link");
        };
        let examples = of_guides.entry(guide).or_insert_with_key(|guide| packed(guide));
        assert!(Example::unpack(examples, &section, number).is_some(), "{id} has no example");
    }
}
