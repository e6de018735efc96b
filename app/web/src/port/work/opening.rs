//! Opening files: buttons, drops, the sample.

use super::session::Session;
use super::twin;
use crate::port::state::State;
use crate::port::state::project::{self, Kind, LeftOut, Refusal};
use crate::port::work::archive::{self, Packed};
use crate::shared::browser;
use crate::shared::text::count;
use leptos::prelude::*;
use python::SourceFile;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DataTransfer, File, FileList, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

/// The location of the sample relative to the page's module. It is one of the scripts that the tests port and run.
const SAMPLE: &str = "samples/spectra_trainer.py";

/// Opens the sample trainer.
pub(in crate::port) fn open_sample(session: Session) {
    begin(session);
    spawn_local(async move {
        let sample = browser::fetch_text(SAMPLE).await;
        session.state.update(|state| state.reading -= 1);
        match sample {
            Ok(text) => session.open_given("Opened the sample.", |state| {
                state.open_sample(SourceFile { path: "spectra_trainer.py".into(), text });
                true
            }),
            Err(why) => session.say(true, format!("The sample could not be loaded: {}", browser::reason(&why))),
        }
    });
}

/// Closes the project, as on a first visit. It can be brought back.
pub(in crate::port) fn start_over(session: Session) {
    session.open(None, false, "Closed the project.".to_owned());
}

/// Marks files as being read; the function that opens them ends this.
fn begin(session: Session) {
    session.state.update(|state| state.reading += 1);
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    files: Vec<SourceFile>,
    guides: Vec<SourceFile>,
    /// Bytes of their texts.
    bytes: usize,
    bad: Vec<(String, Refusal)>,
    left_out: LeftOut,
    /// Name and text of a possible result of a twin run.
    result: Option<(String, String)>,
}

impl Found {
    /// Adds a file, chosen individually or found in a folder or archive.
    fn take(&mut self, path: String, text: Result<String, Refusal>, is_chosen: bool) {
        let text = text.and_then(|text| project::check_format(&path, &text).map(|()| text));
        match text {
            Ok(text) if project::is_markdown(&path) && guide::is_guide(&text) => {
                self.bytes += text.len();
                let path = path.rsplit('/').next().unwrap_or_default().to_owned();
                self.guides.push(SourceFile { path, text });
            }
            _ if !is_chosen && !project::belongs(&path) => self.left_out.add(&path),
            Ok(text) => {
                self.bytes += text.len();
                let place = self.files.partition_point(|file| file.path <= path);
                self.files.insert(place, SourceFile { path, text });
            }
            Err(why) => self.bad.push((path, why)),
        }
    }

    /// Whether this exceeds a project's limits, so that reading can stop: all of it might not fit into memory.
    fn is_too_much(&self) -> bool {
        self.files.len() + self.guides.len() > project::MAX_FILES || self.bytes > project::MAX_PROJECT
    }
}

/// Opens chosen files. Files of a folder have their path.
pub(in crate::port) fn open_list(session: Session, list: &FileList) {
    let files: Vec<File> = (0..list.length()).filter_map(|index| list.item(index)).collect();
    begin(session);
    spawn_local(async move {
        let mut found = Found::default();
        for file in files {
            let path = js_sys::Reflect::get(&file, &"webkitRelativePath".into());
            let path = path.ok().and_then(|path| path.as_string()).filter(|path| !path.is_empty());
            let from_folder = path.is_some();
            read(&mut found, &file, path.unwrap_or_else(|| file.name()), from_folder).await;
            if found.is_too_much() {
                break;
            }
        }
        finish(session, found);
    });
}

/// Opens dropped files and folders. The items become invalid after the event, so they are collected immediately.
pub(in crate::port) fn open_dropped(session: Session, data: &DataTransfer) {
    let items = data.items();
    let entries: Vec<FileSystemEntry> = (0..items.length())
        .filter_map(|index| items.get(index))
        .filter_map(|item| item.webkit_get_as_entry().ok().flatten())
        .collect();
    if entries.is_empty() {
        if let Some(list) = data.files() {
            open_list(session, &list);
        }
        return;
    }
    begin(session);
    spawn_local(async move {
        let mut found = Found::default();
        let mut open: Vec<(FileSystemEntry, bool)> = entries.into_iter().map(|entry| (entry, false)).collect();
        while let Some((entry, in_folder)) = open.pop() {
            let path = entry.full_path().trim_start_matches('/').to_owned();
            if entry.is_directory() {
                if !project::skipped_folder(&entry.name()) {
                    let children = children(entry.unchecked_into()).await;
                    open.extend(children.into_iter().map(|child| (child, true)));
                }
            } else if let Ok(file) = file_of(entry.unchecked_into()).await {
                read(&mut found, &file, path, in_folder).await;
            }
            if found.is_too_much() {
                break;
            }
        }
        finish(session, found);
    });
}

/// All entries of a folder; the reader returns them in batches.
async fn children(folder: FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut all = Vec::new();
    loop {
        let portion = js_sys::Promise::new(&mut |resolve, reject| {
            let _ = reader.read_entries_with_callback_and_callback(&resolve, &reject);
        });
        let portion = JsFuture::from(portion).await.map(|list| js_sys::Array::from(&list)).unwrap_or_default();
        if portion.length() == 0 {
            return all;
        }
        all.extend(portion.iter().map(JsCast::unchecked_into));
    }
}

async fn file_of(entry: FileSystemFileEntry) -> Result<File, JsValue> {
    let file = js_sys::Promise::new(&mut |resolve, reject| entry.file_with_callback_and_callback(&resolve, &reject));
    JsFuture::from(file).await.map(JsCast::unchecked_into)
}

async fn read(found: &mut Found, file: &File, path: String, in_folder: bool) {
    let kind = project::kind(&path);
    // Checked first: files that are too large are not even read.
    let most = project::most(&path);
    let is_too_large = file.size() > most as f64;
    if in_folder && !project::belongs(&path) && (is_too_large || !project::is_markdown(&path)) {
        return found.left_out.add(&path);
    }
    if is_too_large {
        return found.bad.push((path, Refusal::TooBig { size: file.size() as usize, most }));
    }
    let bytes = match browser::bytes_of(file).await {
        Ok(bytes) => bytes,
        Err(why) => return found.bad.push((path, Refusal::Unreadable(browser::reason(&why)))),
    };
    if kind == Kind::Result {
        match project::text_of(&path, bytes) {
            Ok(text) => found.result = Some((path, text)),
            Err(why) => found.bad.push((path, why)),
        }
        return;
    }
    if kind != Kind::Zip {
        let text = project::text_of(&path, bytes);
        return found.take(path, text, !in_folder);
    }
    match archive::list(&bytes) {
        Ok((packed, left_out)) => {
            found.left_out.extend(left_out);
            for file in packed {
                let text = unpack(&file).await;
                found.take(file.path, text, false);
                if found.is_too_much() {
                    break;
                }
            }
        }
        Err(why) => found.bad.push((path, why)),
    }
}

/// Opens what was found, or says why there is nothing to open; in that case the project stays unchanged.
fn finish(session: Session, mut found: Found) {
    session.state.update(|state| state.reading -= 1);
    if let (Some((name, text)), true, true) = (found.result.take(), found.files.is_empty(), found.bad.is_empty()) {
        return twin::take(session, name, text);
    }
    if found.files.is_empty() && found.bad.is_empty() && !found.guides.is_empty() {
        session.state.update(State::clear_notice);
        return session.add_guides(found.guides);
    }
    project::strip_root(&mut found.files);
    let trouble = found.bad.first().map(|(path, why)| format!("{path} {why}"));
    let others: Vec<&str> = found.bad.iter().skip(1).map(|(path, _)| path.as_str()).collect();
    let trouble = trouble.map(|first| match others.len() {
        0 => first,
        1..8 => format!("{first} Also not opened: {}.", others.join(", ")),
        more => format!("{first} Also not opened: {}, and {} more.", others[..6].join(", "), more - 6),
    });
    if let Err(why) = project::check_project(&found.files) {
        let what = trouble.unwrap_or_else(|| format!("The selection {why}"));
        return session.say(true, what);
    }
    let left_out = found.left_out.skipped();
    let opened = match &found.files[..] {
        [one] => format!("Opened {}.", one.path),
        all => format!("Opened {}.", count(all.len(), "file")),
    };
    let bad = trouble.is_some();
    let trouble = trouble.map(|t| format!(" {t}")).unwrap_or_default();
    session.open(Some(found.files), bad, format!("{opened}{left_out}{trouble}"));
    if !found.guides.is_empty() {
        session.add_guides(found.guides);
    }
}

/// The text of a compressed file.
async fn unpack(file: &Packed) -> Result<String, Refusal> {
    let damaged = |why: JsValue| Refusal::Archive(format!("{}: {}", file.path, browser::reason(&why)));
    let bytes = match file.deflated {
        true => browser::inflate(&file.data, project::most(&file.path)).await.map_err(damaged)?,
        false => file.data.clone(),
    };
    archive::intact(file, &bytes)?;
    project::text_of(&file.path, bytes)
}
