//! Zip archives: any bytes are listed or rejected, and packed files are found.

use super::{Mutator, Target, Ways};
use crate::fuzz::seeds::{self, Seed};
use web::port::state::project::{belongs, is_markdown, text_of};
use web::port::work::archive::{intact, list};
use web::shared::archive::write;

pub(super) const TARGET: Target = Target { name: "zip", check, seeds, mutator: Mutator::Bytes, short: 400 };

fn seeds() -> Vec<Seed> {
    let programs = seeds::programs();
    let pack = |(n, files): (usize, &[Seed])| {
        let files = files.iter().map(|(name, text)| (name.as_str(), std::str::from_utf8(text).unwrap_or_default()));
        Some((format!("{n}.zip"), write(files).ok()?))
    };
    programs.chunks(3).enumerate().take(30).filter_map(pack).collect()
}

fn check(input: &[u8], _: Ways) {
    match list(input) {
        Ok((files, _)) => {
            assert!(!files.is_empty(), "nothing is refused");
            for file in &files {
                let may_belong = belongs(&file.path) || is_markdown(&file.path);
                assert!(may_belong, "{} is no file of a project and no guide", file.path);
                let outside = file.path.starts_with('/') || file.path.split('/').any(|part| part == "..");
                assert!(!outside, "{} leads out of the project", file.path);
                if !file.deflated && intact(file, &file.data).is_ok() {
                    let _ = text_of(&file.path, file.data.clone());
                }
            }
        }
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    let text = String::from_utf8_lossy(input);
    let files = [("a.py", &*text), ("b/ä.py", ""), ("requirements.txt", "torch")];
    let packed = write(files).expect("a few files fit");
    let (found, _) = list(&packed).expect("what was packed is found");
    let found: Vec<_> = found.iter().map(|file| (file.path.as_str(), file.data.as_slice())).collect();
    assert_eq!(found, files.map(|(path, text)| (path, text.as_bytes())));
}
