//! The Python for a rehearsal.

use crate::said::say_line;
use crate::usage::{Usage, usage};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use training::Program;

/// Prints the version, and whether one of the modules in the arguments is installed; old Python versions can run it, too.
const QUESTION: &str = "import sys, importlib.util as u\nprint('%d.%d' % sys.version_info[:2], \
    any(u.find_spec(name) is not None for name in sys.argv[1:]))";

/// The oldest version supported by the kit.
const OLDEST: (u32, u32) = (3, 8);

/// What a program is computed by.
struct Framework {
    name: &'static str,
    module: &'static str,
    /// The variable with the path of a Python that has it, and the folder of the one that `cargo xtask setup` makes.
    variable: &'static str,
    folder: &'static str,
}

const PYTORCH: Framework =
    Framework { name: "PyTorch", module: "torch", variable: "PORTOLAN_PYTHON", folder: "newest" };

const TENSORFLOW: Framework =
    Framework { name: "TensorFlow", module: "tensorflow", variable: "PORTOLAN_TENSORFLOW", folder: "tensorflow" };

/// The selected one, or `python3` on PATH, or, if that can't run the project, the one that setup makes; a message if none can be used.
pub(super) fn find(named: Option<&Path>, programs: &[Program]) -> Result<PathBuf, Usage> {
    // If a project has programs of both, the kit determines which of the two a program needs.
    let has = |tensorflow: bool| programs.iter().any(|program| program.tensorflow == tensorflow);
    let wanted: &[&Framework] = match (has(false), has(true)) {
        (true, false) => &[&PYTORCH],
        (false, true) => &[&TENSORFLOW],
        _ => &[&PYTORCH, &TENSORFLOW],
    };
    if let Some(named) = named {
        return check(named, true, wanted);
    }
    let plain = Path::new(if cfg!(windows) { "python" } else { "python3" });
    check(plain, false, wanted).or_else(|fault| {
        let made = wanted.iter().filter_map(|framework| made(framework));
        let made = made.filter_map(|python| check(&python, true, wanted).ok()).next().ok_or(fault)?;
        say_line!("portolan: using {}, because {} has no usable {}", made.display(), plain.display(), wanted[0].name);
        Ok(made)
    })
}

/// The Python that a variable names, or that `cargo xtask setup` makes.
fn made(framework: &Framework) -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(framework.variable).or_else(|| {
        let cache =
            set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).or_else(|| set("LOCALAPPDATA"))?;
        let program = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        Some(cache.join("portolan/python").join(framework.folder).join(program))
    })
}

/// A Python that has one of the frameworks.
fn check(python: &Path, is_named: bool, wanted: &[&Framework]) -> Result<PathBuf, Usage> {
    let (shown, Framework { name, module, .. }) = (python.display(), wanted[0]);
    let modules = wanted.iter().map(|framework| framework.module);
    let asked = Command::new(python).args(["-c", QUESTION]).args(modules).stdin(Stdio::null()).output();
    let answer = match asked {
        Ok(answer) => String::from_utf8_lossy(&answer.stdout).into_owned(),
        Err(error) if !is_named => {
            return Err(usage(format!(
                "a rehearsal needs Python, but {shown} can't be started ({error}); specify one with --python"
            )));
        }
        Err(error) => return Err(usage(format!("--python {shown}: can't be started ({error})"))),
    };
    let mut words = answer.split_whitespace();
    let version = words.next().and_then(|version| {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    match (version, words.next()) {
        (Some(version), _) if version < OLDEST => Err(usage(format!(
            "{shown} is Python {}.{}, but a rehearsal needs {}.{} or newer; specify one with --python",
            version.0, version.1, OLDEST.0, OLDEST.1
        ))),
        (Some(_), Some("True")) => Ok(python.to_path_buf()),
        (Some(_), _) => Err(usage(format!(
            "{name} is not installed for {shown}: install it with `{shown} -m pip install {module}` (and what else the program \
             imports), or name a Python that has it with --python"
        ))),
        (None, _) => Err(usage(format!("--python {shown}: not a Python interpreter"))),
    }
}
