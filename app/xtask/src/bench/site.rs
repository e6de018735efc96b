//! `cargo xtask bench site`: how long the command takes to write the pages, ours and many generated ones, compared with
//! mdBook if the machine has it. Each figure is the median of whole runs of the process, including reading and writing.

use crate::step::{on_path, run, step};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Maximum number of seconds for our own pages if they exist already.
const BAR: f64 = 0.1;
/// Numbers of generated guides.
const MANY: [usize; 2] = [1_000, 10_000];
/// The maximum ratio of the time per page with many pages to that with few.
const GROWTH: f64 = 1.3;

/// Builds the command, measures, and prints.
pub(crate) fn run_site() -> Result<()> {
    let target = workspace::target();
    step("the command (release build without LTO)", || {
        let mut cargo = workspace::command("cargo");
        cargo.args(["build", "--quiet", "--release", "--package", "cli", "--target-dir"]).arg(target.join("bench"));
        run(cargo.envs([("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")]))
    })?;
    let portolan = target.join("bench").join("release").join(format!("portolan{}", std::env::consts::EXE_SUFFIX));
    let folder = target.join("bench-site");
    remove(&folder)?;

    let mut own = None;
    step("our pages", || {
        let out = folder.join("own");
        let cold = timed(&mut ours(&portolan, &workspace::root(), &out), 1)?;
        let warm = timed(&mut ours(&portolan, &workspace::root(), &out), 9)?;
        let disk = bytes_and_files(&out);
        println!(
            "    cold {cold:.3} s, warm {warm:.3} s (bar {BAR} s), {} pages, {:.2} MiB",
            disk.pages,
            disk.mebibytes()
        );
        own = Some(warm);
        Ok(())
    })?;
    let mut each = Vec::new();
    for count in MANY {
        step(format!("{count} generated pages"), || {
            let project = folder.join(format!("made-{count}"));
            write_guides(&project, count)?;
            let out = project.join("dist");
            let seconds = timed(&mut ours(&portolan, &project, &out), 3)?;
            let disk = bytes_and_files(&out);
            each.push(seconds / count as f64);
            println!(
                "    {seconds:.2} s, {:.0} µs per page, {:.1} MiB written",
                1e6 * seconds / count as f64,
                disk.mebibytes()
            );
            if let Some(mdbook) = on_path("mdbook") {
                let seconds_of_mdbook = timed(Command::new(mdbook).arg("build").current_dir(&project), 3)?;
                println!("    mdBook: {seconds_of_mdbook:.2} s, {:.2} times ours", seconds_of_mdbook / seconds);
            }
            Ok(())
        })?;
    }
    if on_path("mdbook").is_none() {
        println!("\n    mdBook is not on PATH: comparison skipped");
    }
    let growth = each[1] / each[0];
    println!("\n    time per page for {} pages is {growth:.2} times that for {} (linear: 1)", MANY[1], MANY[0]);
    ensure!(growth <= GROWTH, "the time is not linear: {growth:.2} is more than {GROWTH}");
    let own = own.unwrap_or_default();
    ensure!(own <= BAR, "our pages take {own:.3} s, more than {BAR} s");
    Ok(())
}

/// The command for a project's guides, without the folders that only ours has.
fn ours(portolan: &Path, project: &Path, out: &Path) -> Command {
    let mut command = Command::new(portolan);
    command.args(["site", "build", "--out"]).arg(out).current_dir(project);
    command
}

/// Seconds of the median run.
fn timed(command: &mut Command, runs: usize) -> Result<f64> {
    let mut seconds = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        let ran = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
        seconds.push(start.elapsed().as_secs_f64());
        ensure!(ran.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&ran.stderr));
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[runs / 2])
}

/// Guides as long as a short real one: prose, a table, coloured code, a diff, and links to the neighbours; and the same
/// text as a book for mdBook.
fn write_guides(project: &Path, count: usize) -> Result<()> {
    let guides = project.join("guides");
    fs::create_dir_all(&guides).with_context(|| format!("cannot create {}", guides.display()))?;
    fs::write(project.join("book.toml"), "[book]\ntitle = \"Made up\"\nsrc = \"guides-as-book\"\n")?;
    let book = project.join("guides-as-book");
    fs::create_dir_all(&book)?;
    let mut summary = String::from("# Summary\n\n");
    for number in 0..count {
        let body = body(number, count);
        fs::write(
            guides.join(format!("g{number}.md")),
            format!("+++\ntitle = \"Guide {number}\"\ndescription = \"Made up.\"\norder = {number}\n+++\n{body}"),
        )?;
        fs::write(book.join(format!("g{number}.md")), format!("# Guide {number}\n\n{body}"))?;
        summary += &format!("- [Guide {number}](g{number}.md)\n");
    }
    fs::write(book.join("SUMMARY.md"), summary)?;
    Ok(())
}

fn body(number: usize, count: usize) -> String {
    let (before, after) = ((number + count - 1) % count, (number + 1) % count);
    let mut body = String::new();
    for section in 0..4 {
        body += &format!(
            "## Section {section} of {number}\n\n\
             A trainer that runs on one machine keeps its model, its loss and its loop on another; see\n\
             [the one before](g{before}.md) and [a part of the next](g{after}.md#section-{section}-of-{after}).\n\n\
             - `torch.cuda.amp` becomes `torch.amp`\n- the rest stays as it is\n\n\
             | Name | What it is |\n|---|---|\n| `net` | the model {number} |\n| `loss` | a number |\n\n\
             ```python\nimport torch\n\ndef step_{number}(net, batch):\n    loss = net(batch[\"x\"].cuda()).mean()\n    \
             loss.backward()\n    return {section} + loss.item()\n```\n\n\
             ```diff\n- net = net.cuda()\n+ net = net.to(device)\n```\n\n"
        );
    }
    body
}

/// The size on disk.
#[derive(Default)]
struct OnDisk {
    pages: usize,
    bytes: u64,
}

impl OnDisk {
    fn mebibytes(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20)
    }
}

fn bytes_and_files(folder: &Path) -> OnDisk {
    let mut found = OnDisk::default();
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            found.pages += usize::from(path.extension().is_some_and(|ending| ending == "html"));
            found.bytes += entry.metadata().map_or(0, |data| data.len());
        }
    }
    found
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
