//! Python packages, in separate environments.

use super::{cache, missing, there};
use crate::step::{ask, on_path, run, seconds};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A PyTorch or TensorFlow for running programs in tests, in an environment of its own that is kept between runs.
pub(crate) struct Framework {
    /// How it is set.
    shown: &'static str,
    /// The variable with which a user chooses another.
    pub(crate) variable: &'static str,
    /// Name of the list of packages in `app/xtask/python`, and of the folder in the cache.
    name: &'static str,
    /// A program that succeeds if it is usable.
    used: &'static str,
    /// The wheels for x86-64 Linux are those for CUDA, and are patched to work without it.
    for_cuda: bool,
    /// Supported Python versions, the best first.
    pythons: &'static [&'static str],
    /// The sizes of the download and the installation.
    size: &'static str,
}

/// The one used by the tests.
pub(crate) const NEWEST: Framework = Framework {
    shown: "PyTorch (newest)",
    variable: "PORTOLAN_PYTHON",
    name: "newest",
    used: PYTORCH,
    for_cuda: true,
    pythons: &["3.11", "3.12", "3.13"],
    size: "0.7 GB to download, 1.3 GB installed; 1 to 3 minutes",
};

/// The oldest supported by the twin run kit: `cargo xtask setup --oldest-pytorch`, then `PORTOLAN_PYTHON`.
pub(crate) const OLDEST: Framework = Framework {
    shown: "PyTorch (oldest)",
    variable: "PORTOLAN_PYTHON",
    name: "oldest",
    used: PYTORCH,
    for_cuda: true,
    pythons: &["3.11"],
    size: "0.7 GB to download, 1.2 GB installed; 1 to 3 minutes",
};

/// The one used for twin runs of Keras programs.
pub(crate) const TENSORFLOW: Framework = Framework {
    shown: "TensorFlow",
    variable: "PORTOLAN_TENSORFLOW",
    name: "tensorflow",
    used: "import tensorflow, keras; keras.layers.Dense(1)(tensorflow.ones((1, 2)))",
    for_cuda: false,
    pythons: &["3.11", "3.12", "3.13"],
    size: "0.4 GB to download, 1.6 GB installed; about a minute",
};

const PYTORCH: &str = "import torch; torch.ones(2, requires_grad=True).sum().backward()";

impl Framework {
    /// Installs it unless the last installation was of the same packages.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let thing = self.shown;
        let own = workspace::root().join("app/xtask/python");
        let list = own.join(format!("{}.txt", self.name));
        let without_cuda = own.join("without_cuda.py");
        let read =
            |file: &Path| std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
        let wanted = read(&list)? + &if self.for_cuda { read(&without_cuda)? } else { String::new() };
        let folder = self.folder()?;
        let program = program_in(&folder);
        let stamp = folder.join("installed-requirements.txt");
        if program.is_file() && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            there(thing, program.display());
            return Ok(program);
        }
        let python = self.python()?;
        missing(thing, format!("pip downloads it; {}, once", self.size));
        let start = Instant::now();
        make_environment(&python, &folder)?;
        // PyTorch's wheels for x86-64 Linux are those for CUDA, with three gigabytes of dependencies that are not used
        // here.
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"];
        run(Command::new(&program).args(pip).arg(&list))?;
        if self.for_cuda && cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            run(Command::new(&program).arg(&without_cuda))?;
        }
        run(Command::new(&program).args(["-c", self.used]))
            .with_context(|| format!("the installed {thing} cannot be used"))?;
        std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        println!("    {thing} installed in {}", seconds(start));
        Ok(program)
    }

    /// The version and the packages of the Python that tests use: this one, unless the user chose another. Empty if there is none.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub(crate) fn installed(&self) -> Result<String> {
        const ASKED: &str = "import sys, importlib.metadata as m; \
                             print(sys.version, sorted((str(d.metadata['Name']), str(d.version)) for d in m.distributions()))";
        let chosen = std::env::var_os(self.variable).filter(|program| !program.is_empty()).map(PathBuf::from);
        let program = chosen.or_else(|| self.program().ok());
        let Some(program) =
            program.filter(|program| program.is_file() || on_path(&program.display().to_string()).is_some())
        else {
            return Ok(String::new());
        };
        ask(&program, &["-c", ASKED]).with_context(|| format!("{} does not list its packages", program.display()))
    }

    /// Its Python, once it is installed.
    pub(crate) fn program(&self) -> Result<PathBuf> {
        Ok(program_in(&self.folder()?))
    }

    fn folder(&self) -> Result<PathBuf> {
        Ok(cache()?.join("python").join(self.name))
    }

    /// A Python of a version that has wheels: by its own name, or as `python3`.
    fn python(&self) -> Result<PathBuf> {
        let version = "import sys; print('%d.%d' % sys.version_info[:2])";
        let fits =
            |path: &PathBuf| ask(path, &["-c", version]).is_some_and(|said| self.pythons.contains(&said.as_str()));
        let plain = on_path("python3").filter(fits);
        let numbered = || self.pythons.iter().find_map(|number| on_path(&format!("python{number}")).filter(fits));
        let Some(python) = plain.or_else(numbered) else {
            bail!("{} needs Python {}, but none of these is on PATH", self.shown, self.pythons.join(", "));
        };
        Ok(python)
    }
}

/// The Python in an environment.
fn program_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Recreates an environment. Debian's Python needs a package for it.
fn make_environment(python: &Path, folder: &Path) -> Result<()> {
    if ask(python, &["-c", "import ensurepip"]).is_none() {
        super::system::python_venv()?;
    }
    std::fs::remove_dir_all(folder).ok();
    run(Command::new(python).args(["-m", "venv"]).arg(folder))
}

/// A Python of any version, for environments; Windows calls it `python`.
fn any_python() -> Result<PathBuf> {
    let names: &[&str] = if cfg!(windows) { &["python3", "python"] } else { &["python3"] };
    names.iter().find_map(|name| on_path(name)).context("python3 is not on PATH: run cargo xtask setup")
}

/// The Python of an environment in `folder` with only pip.
pub(crate) fn python_with_pip(folder: &Path) -> Result<PathBuf> {
    let folder = folder.join("python");
    let own = program_in(&folder);
    if ask(&own, &["-m", "pip", "--version"]).is_none() {
        make_environment(&any_python()?, &folder)?;
    }
    Ok(own)
}

/// The Python of an environment in `folder` with the packages of a list, created once for each list.
pub(crate) fn python_with_packages(folder: &Path, list: &Path) -> Result<PathBuf> {
    let python = any_python()?;
    let folder = folder.join("python");
    let own = program_in(&folder);
    let wanted = std::fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let stamp = folder.join("installed-requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(own);
    }
    make_environment(&python, &folder)?;
    run(Command::new(&own).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(list))?;
    std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(own)
}
