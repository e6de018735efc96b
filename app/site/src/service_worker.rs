//! The service worker, generated last: it contains the name and a revision of every file of the finished site.
//! Revisions are computed from contents, never from names, because not every name in the build changes with its
//! content.

use crate::one_file::{Files, ONE_FILE};
use crate::parallel;
use serde_json::json;
use sha2::{Digest, Sha256};

/// Name of the file, relative to the site's root.
pub const SERVICE_WORKER: &str = "sw.js";

const TEXT: &str = include_str!("../theme/service_worker.js");

/// From this size on a file that is not a program is fetched only when it is requested.
const HEAVY: usize = 1 << 19;

/// The same applies to the programs in this folder, whatever their size: others do the same, more slowly.
const FASTER: &str = "threads/";

/// A file of the finished site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteFile {
    path: String,
    revision: String,
    size: usize,
}

impl SiteFile {
    /// All files of a site.
    pub fn all(files: &Files) -> Vec<SiteFile> {
        let files: Vec<_> = files.iter().collect();
        parallel::each(&files, |_, (path, bytes)| SiteFile::new((*path).clone(), bytes))
    }

    /// `path` from the site's root, with `/`.
    pub fn new(path: String, bytes: &[u8]) -> SiteFile {
        let revision = Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        SiteFile { path, revision, size: bytes.len() }
    }

    fn is_heavy(&self) -> bool {
        let is_program = [".wasm", ".js", ".html", ".json"].iter().any(|end| self.path.ends_with(end));
        self.path.starts_with(FASTER) || self.size >= HEAVY && !is_program
    }

    /// Excludes screenshots for app listings, the single-file copy of the site, and the worker itself.
    fn is_kept(&self) -> bool {
        self.path != SERVICE_WORKER && self.path != ONE_FILE && !self.path.starts_with("screenshots/")
    }
}

/// The worker's text. `isolated` are the folders whose pages use threads.
pub fn service_worker(mut files: Vec<SiteFile>, isolated: &[&str]) -> String {
    files.sort();
    let list: Vec<_> = files
        .iter()
        .filter(|file| file.is_kept())
        .map(|file| json!([file.path, file.revision, file.size, file.is_heavy()]).to_string())
        .collect();
    TEXT.replace("/* FILES */[]", &format!("[\n  {}\n]", list.join(",\n  ")))
        .replace("/* ISOLATED */[]", &json!(isolated).to_string())
}

#[cfg(test)]
mod tests {
    use super::{SiteFile, service_worker};

    #[test]
    fn a_revision_follows_the_content() {
        let worker = |text: &str| {
            let files = vec![
                SiteFile::new("port/index.html".to_string(), text.as_bytes()),
                SiteFile::new("a.wasm".to_string(), &vec![0; 2 << 20]),
                SiteFile::new("weights.bin".to_string(), &vec![0; 2 << 20]),
                SiteFile::new("threads/a.wasm".to_string(), b"\0asm"),
                SiteFile::new("sw.js".to_string(), b"old"),
            ];
            service_worker(files, &["check/"])
        };
        let first = worker("one");
        assert!(first.contains("[\"port/index.html\",\"7692c3ad3540bb80\",3,false]"), "{first}");
        assert!(first.contains("[\"a.wasm\",") && first.contains(",2097152,false]"), "{first}");
        assert!(first.contains("[\"threads/a.wasm\",") && first.contains(",4,true]"), "{first}");
        assert!(first.contains("[\"weights.bin\",") && first.contains(",2097152,true]"), "{first}");
        assert!(!first.contains("[\"sw.js\""), "{first}");
        assert!(first.contains("const isolated = [\"check/\"];"), "{first}");
        assert_eq!(first, worker("one"));
        assert_ne!(first, worker("two"));
    }
}
