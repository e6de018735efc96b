//! How long a diff takes: `cargo bench -p codemod --bench diff`.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A generated trainer with this many lines: words, indentation and repetition as in real ones.
fn trainer(lines: usize) -> String {
    let mut out = String::new();
    for i in 0..lines {
        let _ = match i % 11 {
            0 => writeln!(out, "    def step_{i}(self, batch, device=None):"),
            1 => writeln!(out, "        inputs, labels = batch[\"image\"].cuda(), batch[\"label\"].cuda()"),
            2 => writeln!(out, "        with torch.cuda.amp.autocast(enabled=self.args.amp_{}):", i % 97),
            3 => writeln!(out, "            loss = self.criterion(self.net(inputs), labels) * {i}"),
            4 => writeln!(out, "        if self.training:"),
            5 => writeln!(out, "            loss.backward()"),
            6 => writeln!(out, "        else:"),
            7 => writeln!(out, "            metrics[\"loss_{}\"] = loss.item()", i % 53),
            8 => writeln!(out, "        torch.cuda.synchronize()"),
            9 => writeln!(out, "        return loss  # step {i}"),
            _ => writeln!(out),
        };
    }
    out
}

/// The changes of a port.
fn ported(text: &str) -> String {
    text.replace(".cuda()", ".to(\"hpu\")")
        .replace("torch.cuda.amp.autocast(", "torch.autocast(\"hpu\", ")
        .replace("            loss.backward()\n", "            loss.backward()\n            htcore.mark_step()\n")
        .replace("        torch.cuda.synchronize()\n", "")
}

/// The same blocks in another order.
fn moved(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut blocks: Vec<&[&str]> = lines.chunks(110).collect();
    blocks.rotate_left(2);
    blocks.swap(0, 3);
    blocks.concat().concat()
}

fn median(name: &str, bar: Option<Duration>, mut run: impl FnMut()) {
    let mut times: Vec<Duration> = Vec::new();
    let begin = Instant::now();
    while times.len() < 5 || (begin.elapsed() < Duration::from_millis(600) && times.len() < 400) {
        let start = Instant::now();
        run();
        times.push(start.elapsed());
    }
    times.sort();
    let time = times[times.len() / 2];
    let bar = bar.map_or(String::new(), |bar| format!("  bar {bar:?}{}", if time <= bar { "" } else { "  MISSED" }));
    println!("{name:<44} {:>9.3} ms{bar}", time.as_secs_f64() * 1e3);
}

fn main() {
    let ms = |n| Some(Duration::from_millis(n));
    for (lines, bar) in [(1_000, ms(5)), (50_000, ms(150))] {
        let old = trainer(lines);
        for (what, new) in [
            ("nothing changed", old.clone()),
            ("a port", ported(&old)),
            ("a port, blocks moved", moved(&ported(&old))),
            ("every line end", old.replace('\n', "\r\n")),
            ("all indented", old.lines().map(|line| format!("    {line}\n")).collect()),
            ("nothing in common", old.lines().rev().map(|line| format!("{}x\n", line.len())).collect()),
        ] {
            median(&format!("diff, {lines} lines, {what}"), bar, || {
                black_box(codemod::diff_texts(black_box(&old), black_box(&new), &[]));
            });
        }
        median(&format!("patch, {lines} lines, a port"), None, || {
            black_box(codemod::git_patch_of("a.py", black_box(&old), &ported(&old)));
        });
        median(&format!("colours, {lines} lines"), None, || {
            black_box(python::Highlight::python(black_box(&old)));
        });
    }
}
