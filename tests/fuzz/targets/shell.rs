//! Checks a script with bash.

use std::io::Write;
use std::process::{Command, Stdio};

/// Whether bash can parse it; nothing is run.
pub(super) fn reads(script: &str) -> bool {
    let mut bash = Command::new("bash");
    let bash = bash.arg("-n").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = bash.spawn() else { panic!("bash starts") };
    // A script with an error may exit before its end.
    let _ = child.stdin.take().map(|mut input| input.write_all(script.as_bytes()));
    child.wait().is_ok_and(|status| status.success())
}
