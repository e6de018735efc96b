//! The Python for a rehearsal.

use crate::usage::{Usage, usage};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Prints the version, and whether PyTorch or TensorFlow is installed; old Python versions can run it, too. The kit
/// determines which of the two a program needs.
const QUESTION: &str = "import sys, importlib.util as u\nprint('%d.%d' % sys.version_info[:2], \
    any(u.find_spec(name) is not None for name in ('torch', 'tensorflow')))";

/// The oldest version supported by the kit.
const OLDEST: (u32, u32) = (3, 8);

/// The selected one, or `python3` on PATH; a message if it can't be used.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, Usage> {
    let python =
        named.map_or_else(|| PathBuf::from(if cfg!(windows) { "python" } else { "python3" }), Path::to_path_buf);
    let shown = python.display();
    let asked = Command::new(&python).args(["-c", QUESTION]).stdin(Stdio::null()).output();
    let answer = match asked {
        Ok(answer) => String::from_utf8_lossy(&answer.stdout).into_owned(),
        Err(error) if named.is_none() => {
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
        (Some(_), Some("True")) => Ok(python),
        (Some(_), _) => Err(usage(format!(
            "PyTorch is not installed for {shown}: install it with `{shown} -m pip install torch` (and what else the program \
             imports; TensorFlow for a program of Keras), or name a Python that has it with --python"
        ))),
        (None, _) => Err(usage(format!("--python {shown}: not a Python interpreter"))),
    }
}
