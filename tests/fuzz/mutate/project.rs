//! Changes of a project: files are removed, added and renamed, and statements of one are copied to another.

use super::{bytes, program};
use crate::fuzz::projects;
use crate::fuzz::random::Random;

/// Names for a file; some have a meaning for a port.
const PATHS: &[&str] = &[
    "train.py",
    "net.py",
    "data.py",
    "src/net.py",
    "config/mode.py",
    "config/__init__.py",
    "mode.py",
    "run.py",
    "requirements.txt",
    "setup.py",
    "README.md",
    "config.yaml",
    "tests/test_net.py",
    "net/__init__.py",
    "scripts/launch",
];

/// Another project.
pub(crate) fn project(text: &str, other: &str, random: &mut Random) -> String {
    let (mut files, others) = (projects::split(text), projects::split(other));
    for _ in 0..=random.below(2) {
        let at = random.below(files.len());
        match random.below(16) {
            0 if files.len() > 1 => drop(files.remove(at)),
            1 => files.extend(random.pick(&others).cloned()),
            2 => {
                let path = random.pick(PATHS).copied().unwrap_or_default().to_owned();
                files.get_mut(at).into_iter().for_each(|file| file.0.clone_from(&path));
            }
            3 => {
                let to = random.below(files.len());
                if at < files.len() {
                    files.swap(at, to);
                }
            }
            choice => {
                let of = if choice < 10 { &files } else { &others };
                let other = random.pick(of).map(|file| file.1.clone()).unwrap_or_default();
                let Some((path, text)) = files.get_mut(at) else { continue };
                *text = if path.ends_with(".py") {
                    program(text, &other, random)
                } else {
                    String::from_utf8_lossy(&bytes(text.as_bytes(), other.as_bytes(), random)).into_owned()
                };
            }
        }
    }
    projects::join(&files)
}
