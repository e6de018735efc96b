//! Writes the inputs of `cargo xtask bench port` for a port and for other programs: a project of 8,000 lines, and the
//! patterns of a guide as rules of ast-grep.
//!
//! It writes `FOLDER/project/*.py`, `FOLDER/rules/*.yml`, `FOLDER/sgconfig.yml`. A rule that replaces several
//! statements becomes several rules there: ast-grep matches one node at a time.

use super::PIECES;
use std::fmt::Write as _;
use std::path::Path;

const LINES: usize = 8_000;
const TARGET: &str = "hpu";

pub(crate) fn write(folder: &Path) -> std::io::Result<()> {
    let (project, rules) = (folder.join("project"), folder.join("rules"));
    for part in [&project, &rules] {
        let _ = std::fs::remove_dir_all(part);
        std::fs::create_dir_all(part)?;
    }
    let mut lines = 0;
    for (number, text) in PIECES.iter().cycle().enumerate() {
        if lines >= LINES {
            break;
        }
        lines += text.lines().count();
        std::fs::write(project.join(format!("part_{number}.py")), text)?;
    }
    let mut written = 0;
    for guide in codemod::embedded_guides().iter().filter(|guide| guide.front.target.as_deref() == Some(TARGET)) {
        for rule in guide.sections.iter().flat_map(|section| &section.rules) {
            for pattern in patterns(&rule.patch) {
                let mut yaml = format!("id: rule-{written}\nlanguage: python\nrule:\n  pattern: |\n");
                for line in pattern.lines() {
                    let _ = writeln!(yaml, "    {line}");
                }
                std::fs::write(rules.join(format!("rule_{written}.yml")), yaml)?;
                written += 1;
            }
        }
    }
    std::fs::write(folder.join("sgconfig.yml"), "ruleDirs:\n  - rules\n")?;
    println!("{lines} lines, {written} rules");
    Ok(())
}

/// The lines of a patch to match, one text per statement of the outermost level.
fn patterns(patch: &str) -> Vec<String> {
    let matched = patch.lines().filter(|line| !line.starts_with('+'));
    let code: Vec<&str> = matched.map(|line| line.get(2..).unwrap_or_default()).collect();
    let source = code.join("\n");
    // ast-grep does not have facts about the project; a clause alone is not a node for it.
    if source.contains("{{") || ["elif", "else", "except"].iter().any(|clause| source.starts_with(clause)) {
        return Vec::new();
    }
    let mut out: Vec<String> = Vec::new();
    for line in code.into_iter().filter(|line| !line.trim().is_empty()) {
        match out.last_mut().filter(|_| line.starts_with([' ', ')', ']', '}'])) {
            Some(statement) => {
                statement.push('\n');
                statement.push_str(line);
            }
            None => out.push(line.to_owned()),
        }
    }
    // A metavariable alone matches everything, whatever its type.
    out.retain(|pattern| !pattern.trim_start_matches('$').chars().all(|c| c.is_ascii_uppercase() || c == '_'));
    out
}
