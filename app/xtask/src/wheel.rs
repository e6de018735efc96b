//! `cargo xtask wheel`: the command as a Python wheel, for users without Rust, checked by using it.
//!
//! The wheel has no code for a particular Python: one for each system is enough. On Linux, zig links, so that the wheel of any machine
//! runs with the C library of 2014 (manylinux) or without one (musllinux). `pyproject.toml` describes the package. The wheel is built from
//! a copy of it in `target/wheel/package`, beside what exists only there: the description for the package index and the licences of
//! other people's packages. There is no source distribution: the site needs more tools to be built than pip can install.

mod description;
mod licences;

use crate::setup::{self, NEWEST_PYTORCH, SITE_TOOLS};
use crate::step::{run, step};
use crate::{dist, paths, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The address of the repository, for links from the package index; without it the description has none to files.
const REPOSITORY: &str = "PORTOLAN_REPOSITORY";

/// What to build.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The finished site in one file; built if it is not given.
    site: Option<PathBuf>,
    /// Rust's name of the system that the wheel is for, if it is not this one.
    target: Option<String>,
}

impl Request {
    /// Reads the words of the command line; none if they are wrong.
    pub(crate) fn parse(words: &[&str]) -> Option<Request> {
        let mut request = Request::default();
        for pair in words.chunks(2) {
            match pair {
                ["--site", file] => request.site = Some(file.into()),
                ["--target", target] => request.target = Some((*target).to_owned()),
                _ => return None,
            }
        }
        Some(request)
    }
}

/// Builds the wheel, checks what is in it, installs it in a clean environment and uses it.
pub(crate) fn build(request: &Request) -> Result<()> {
    let site = match &request.site {
        Some(file) => file.clone(),
        None => {
            let tools = setup::run_beside(&[SITE_TOOLS], dist::compile_ahead)?;
            dist::build(&tools)?;
            workspace::root().join("dist/portolan.html")
        }
    };
    let site = fs::canonicalize(&site).with_context(|| format!("cannot find {}", site.display()))?;
    let folder = workspace::target().join("wheel");
    let python = setup::python_with_packages(&folder, &workspace::root().join("app/xtask/python/wheel.txt"))?;
    let wheel = step("build the wheel", || make(&python, &folder, &site, request.target.as_deref()))?;
    step("check the wheel, and use it in a clean environment", || {
        let mut check = workspace::command(&python);
        check.arg("app/xtask/python/check_wheel.py").arg(&wheel).arg("--site").arg(&site);
        check.args(["--version", env!("CARGO_PKG_VERSION")]);
        if let Some(pytorch) = pytorch()? {
            check.arg("--pytorch").arg(pytorch);
        }
        run(&mut check)
    })?;
    println!("\n{}", wheel.display());
    Ok(())
}

/// Where rehearsals are tried: with the PyTorch of the tests or, on systems for which setup has none, the user's.
fn pytorch() -> Result<Option<PathBuf>> {
    match std::env::var_os(NEWEST_PYTORCH.variable) {
        Some(own) => Ok(Some(own.into())),
        None if cfg!(all(target_os = "linux", target_arch = "x86_64")) => NEWEST_PYTORCH.ensure().map(Some),
        None => Ok(None),
    }
}

/// Runs maturin; returns the wheel.
fn make(python: &Path, folder: &Path, site: &Path, target: Option<&str>) -> Result<PathBuf> {
    let package = folder.join("package");
    prepare(&package)?;
    let out = folder.join("out");
    fs::remove_dir_all(&out).ok();
    let mut maturin = Command::new(python);
    maturin.current_dir(&package).args(["-m", "maturin", "build", "--release", "--out"]).arg(&out);
    let native = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    if let Some(target) = target.or(cfg!(target_os = "linux").then_some(&native)) {
        setup::target(target)?;
        maturin.args(["--target", target]);
        if target.contains("-linux-") {
            let oldest = if target.ends_with("-musl") { "musllinux_1_2" } else { "manylinux2014" };
            maturin.args(["--zig", "--compatibility", oldest]);
        }
    }
    // maturin finds zig through the Python on PATH.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = python.parent().map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&path));
    maturin.env("PATH", std::env::join_paths(folders)?).env("PORTOLAN_SITE", site);
    maturin.env("CARGO_TARGET_DIR", workspace::target());
    let flags = paths::flags()?;
    if !flags.is_empty() {
        maturin.env("RUSTFLAGS", flags);
    }
    run(&mut maturin)?;
    let wheels: Vec<PathBuf> = fs::read_dir(&out)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    match &wheels[..] {
        [wheel] if wheel.extension().is_some_and(|extension| extension == "whl") => Ok(wheel.clone()),
        _ => bail!("maturin wrote {wheels:?}, not one wheel"),
    }
}

/// Writes the folder that maturin reads.
fn prepare(package: &Path) -> Result<()> {
    let root = workspace::root();
    let read = |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));
    // maturin packs a module only from below the folder that it starts in.
    let module = |name: &str| format!("app/cli/python/portolan/{name}");
    fs::remove_dir_all(package).ok();
    let write = |name: &str, text: &str| {
        let file = package.join(name);
        let written = fs::create_dir_all(file.parent().unwrap_or(package)).and_then(|()| fs::write(&file, text));
        written.with_context(|| format!("cannot write {}", file.display()))
    };
    let repository = std::env::var(REPOSITORY).ok();
    let mut project = with_absolute_path(&read("pyproject.toml")?, "manifest-path", &root)?;
    if let Some(address) = &repository {
        project += &format!("\n[project.urls]\nRepository = \"{address}\"\n");
        project += &format!("Changelog = \"{address}/blob/v{}/CHANGELOG.md\"\n", env!("CARGO_PKG_VERSION"));
    }
    write("pyproject.toml", &project)?;
    let is_there = |path: &str| root.join(path).exists();
    let link = repository.map(|address| (address, format!("v{}", env!("CARGO_PKG_VERSION"))));
    write("README.md", &description::of(&read("README.md")?, link, &is_there)?)?;
    for name in ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE", &module("__init__.py"), &module("__main__.py")] {
        write(name, &read(name)?)?;
    }
    let list =
        licences::of(&read("app/site/src/texts/licences.json")?, &read("app/site/vendor/minisearch-LICENSE.txt")?)?;
    write("LICENSE-THIRD-PARTY", &list)
}

/// The project's settings with the path of `key = "path"` made absolute.
fn with_absolute_path(project: &str, key: &str, root: &Path) -> Result<String> {
    let start = format!("\n{key} = \"");
    let (before, rest) = project.split_once(&start).with_context(|| format!("pyproject.toml has no {key}"))?;
    let (path, after) = rest.split_once('"').with_context(|| format!("pyproject.toml: {key} has no end"))?;
    // A literal string: Windows has backslashes.
    Ok(format!("{before}\n{key} = '{}'{after}", root.join(path).display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line() {
        let check = |words: &[&str], expected: Option<(Option<&str>, Option<&str>)>| {
            let expected = expected
                .map(|(site, target)| Request { site: site.map(PathBuf::from), target: target.map(str::to_owned) });
            assert_eq!(Request::parse(words), expected, "{words:?}");
        };
        check(&[], Some((None, None)));
        check(&["--target", "x", "--site", "y.html"], Some((Some("y.html"), Some("x"))));
        check(&["--site"], None);
        check(&["y.html"], None);
    }

    #[test]
    fn paths_of_the_settings_are_absolute() {
        let project = "[tool]\na = \"x\"\npath = \"y/z\"\nb = 1\n";
        let new = with_absolute_path(project, "path", Path::new("/root")).expect("it is there");
        assert_eq!(new, "[tool]\na = \"x\"\npath = '/root/y/z'\nb = 1\n");
        assert!(with_absolute_path(project, "other", Path::new("/root")).is_err());
    }
}
