use super::*;
use crate::port::protocol::{Unblocked, Unblocking};
use crate::port::work::twin_kit::{TwinFiles, files};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Sends a request as the page does, including packing and unpacking.
fn ask(desk: &mut Desk, head: Ask, texts: &[&str]) -> Parcel<Answer> {
    let texts = texts.iter().map(|text| text.to_string()).collect();
    let answer = desk.answer(Parcel { head: wired(head), texts, colours: Vec::new() });
    Parcel { head: wired(answer.head), ..answer }
}

fn wired<T: Serialize + DeserializeOwned + PartialEq + Debug>(head: T) -> T {
    let bytes = postcard::to_allocvec(&head).unwrap();
    let back: T = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(back, head);
    back
}

fn port(desk: &mut Desk, text: &str) -> Parcel<Answer> {
    ask(desk, Ask::Files(vec![("a.py".into(), false)]), &[text]);
    let options = Options { target: "hpu".into(), ..Options::default() };
    ask(desk, Ask::Port { options, show: 0 }, &[])
}

#[test]
fn the_catalogue_has_titles_and_reasons() {
    let answer = ask(&mut Desk::default(), Ask::Catalogue(Vec::new()), &[]);
    let Answer::Catalogue(catalogue) = answer.head else { panic!("{:?}", answer.head) };
    assert!(catalogue.targets.iter().any(|target| target.id == "hpu" && !target.sdks.is_empty()));
    assert!(catalogue.recipes.iter().all(|recipe| !recipe.title.is_empty() && !recipe.reason.is_empty()));
}

#[test]
fn a_port_comes_with_what_is_shown() {
    let mut desk = Desk::default();
    let answer = port(&mut desk, "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n");
    let Answer::Ported(outcome, shown) = answer.head else { panic!("{:?}", answer.head) };
    assert!(outcome.files[0].changed);
    assert_eq!(outcome.files[0].hunks, shown.diff.hunks.len());
    let ids: Vec<&String> = shown.diff.hunks.iter().flat_map(|hunk| &hunk.edits).collect();
    assert!(outcome.files[0].edits.iter().all(|edit| ids.contains(&&edit.id)));
    assert!(answer.texts[0].contains("hpu"));
    assert_eq!(answer.colours.len(), 4);
    let patch = ask(&mut desk, Ask::Patch, &[]).texts.remove(0);
    assert!(patch.starts_with("diff --git a/a.py b/a.py\n"), "{patch}");
    assert!(ask(&mut desk, Ask::Report, &[]).texts[0].contains("\"target\": \"hpu\""));
    assert_eq!(ask(&mut desk, Ask::Texts, &[]).texts, answer.texts);
}

#[test]
fn a_file_that_the_port_adds_is_in_every_download() {
    let mut desk = Desk::default();
    ask(&mut desk, Ask::Files(vec![("src/a.py".into(), false)]), &[LIGHTNING]);
    let options = Options { target: "xpu".into(), ..Options::default() };
    let answer = ask(&mut desk, Ask::Port { options, show: 0 }, &[]);
    let Answer::Ported(outcome, _) = answer.head else { panic!("{:?}", answer.head) };
    assert_eq!((outcome.files.len(), &outcome.new_files[..]), (1, &["src/xpu_lightning.py".to_owned()][..]));
    let patch = ask(&mut desk, Ask::Patch, &[]).texts.remove(0);
    assert!(patch.contains("\nnew file mode 100644\n--- /dev/null\n+++ b/src/xpu_lightning.py\n"), "{patch}");
    let Answer::Texts(paths) = ask(&mut desk, Ask::Texts, &[]).head else { panic!() };
    assert_eq!(paths, ["src/a.py", "src/xpu_lightning.py"]);
    let report = ask(&mut desk, Ask::Report, &[]).texts.remove(0);
    assert!(report.contains("\"new\": true") && report.contains("class XPUAccelerator"), "{report}");
    let twin = ask(&mut desk, Ask::TwinFiles, &[]);
    let Answer::TwinFiles(paths) = twin.head else { panic!() };
    let files = files(Vec::new(), TwinFiles::new(paths, twin.texts), "", "report.json");
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths[2..], ["original/src/a.py", "port/src/a.py", "port/src/xpu_lightning.py"]);
}

const LIGHTNING: &str =
    "import lightning as L\n\ntrainer = L.Trainer(accelerator=\"gpu\", devices=1)\ntrainer.fit(net)\n";

/// Two edits of one recipe in adjacent lines are one change, here and in the diff.
#[test]
fn recipes_count_in_changes() {
    let line = "net = torch.nn.Linear(2, 2).cuda()\n";
    let answer = port(&mut Desk::default(), &format!("import torch\n{line}{line}x = 1\n{line}"));
    let Answer::Ported(outcome, shown) = answer.head else { panic!("{:?}", answer.head) };
    let file = &outcome.files[0];
    let recipe = "hpu#model-to-device";
    assert_eq!(file.edits.iter().filter(|edit| edit.recipe == recipe).count(), 3);
    assert_eq!(file.parts.iter().find(|(id, _)| id == recipe), Some(&(recipe.to_owned(), 2)));
    assert!(file.parts.iter().all(|(_, changes)| *changes <= shown.diff.hunks.len()));
}

#[test]
fn what_was_ported_is_what_is_shown_even_after_typing() {
    let mut desk = Desk::default();
    port(&mut desk, "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n");
    let before = ask(&mut desk, Ask::Patch, &[]).texts;
    ask(&mut desk, Ask::Text(0), &["x = 1\n"]);
    assert_eq!(ask(&mut desk, Ask::Patch, &[]).texts, before);
}

#[test]
fn an_edit_is_refused_in_its_own_file_alone() {
    let mut desk = Desk::default();
    let text = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n";
    ask(&mut desk, Ask::Files(vec![("a.py".into(), false), ("b.py".into(), false)]), &[text, text]);
    let port = |desk: &mut Desk, rejected: Vec<String>| {
        let options = Options { target: "hpu".into(), rejected_edits: rejected, ..Options::default() };
        let Answer::Ported(outcome, _) = ask(desk, Ask::Port { options, show: 0 }, &[]).head else { panic!() };
        outcome.files.iter().map(|file| file.edits.len()).collect::<Vec<_>>()
    };
    let all = port(&mut desk, vec![]);
    assert_eq!(all[0], all[1]);
    let Answer::Ported(outcome, _) =
        ask(&mut desk, Ask::Port { options: Options { target: "hpu".into(), ..Options::default() }, show: 0 }, &[])
            .head
    else {
        panic!()
    };
    let edit = outcome.files[0].edits.iter().find(|edit| edit.recipe == "hpu#model-to-device").unwrap();
    let some = port(&mut desk, vec![format!("a.py:{}", edit.id)]);
    assert!(some[0] < all[0]);
    assert_eq!(some[1], all[1]);
    assert!(port(&mut desk, vec![edit.id.clone()])[1] < all[1]);
}

#[test]
fn the_matrix_comes_a_column_at_a_time() {
    let mut desk = Desk::default();
    let text = "import torch\nnet = build().cuda()\nold = torch.jit.script(net < 1)\n";
    ask(&mut desk, Ask::Files(vec![("a.py".into(), false)]), &[text]);
    let options = Options { target: "hpu".into(), sdk: Some("1.8".into()), ..Options::default() };
    let column = |desk: &mut Desk, column| ask(desk, Ask::Matrix { options: options.clone(), column }, &[]);
    let Answer::Matrix(1, total, None) = column(&mut desk, 0).head else { panic!() };
    assert_eq!(column(&mut desk, 2).head, Answer::Matrix(1, total, None), "a column was skipped");
    for number in 1..total {
        let Answer::Matrix(done, _, table) = column(&mut desk, number).head else { panic!() };
        assert_eq!((done, table.is_some()), (number + 1, number + 1 == total), "the table comes with the last");
    }
    let table = |desk: &mut Desk, rows| match ask(desk, Ask::Rows(rows), &[]).head {
        Answer::Matrix(_, _, Some(table)) => *table,
        other => panic!("{other:?}"),
    };
    let whole = table(&mut desk, 100);
    let hpu = whole.targets.iter().position(|target| target == "hpu").expect("a column");
    assert!(whole.sums[hpu][0] > 0 && whole.sums[hpu][1] > 0, "{whole:?}");
    assert_eq!(whole.rows.len(), whole.total);
    // An entry links to the line that mentions it.
    let options = Options { target: "hpu".into(), sdk: Some("1.8".into()), ..Options::default() };
    ask(&mut desk, Ask::Port { options, show: 0 }, &[]);
    let ported = ask(&mut desk, Ask::Texts, &[]).texts.remove(0);
    let row = whole.rows.iter().find(|row| row.text.contains("build().cuda()")).expect("the line is a row");
    let line = row.cells[hpu].line.expect("a line of the port");
    assert!(ported.lines().nth(line - 1).unwrap().contains("build().to("), "{line} of {ported}");

    let few = table(&mut desk, 1);
    assert_eq!((few.rows.len(), few.total), (1, whole.total));
    ask(&mut desk, Ask::Text(0), &["x = 1\n"]);
    let Answer::Matrix(1, ..) = column(&mut desk, 0).head else { panic!() };
    (1..total).for_each(|number| drop(column(&mut desk, number)));
    assert_eq!(table(&mut desk, 100).total, 0);
}

#[test]
fn a_port_says_how_it_is_launched() {
    let mut desk = Desk::default();
    let text = "import argparse\nimport torch\n\nif __name__ == \"__main__\":\n    parser = argparse.ArgumentParser()\n    \
        parser.add_argument(\"--batch-size\", type=int, default=8)\n    args = parser.parse_args()\n    \
        loader = torch.utils.data.DataLoader([], batch_size=args.batch_size)\n    net = torch.nn.Linear(2, 2).cuda()\n";
    let Answer::Ported(outcome, _) = port(&mut desk, text).head else { panic!() };
    let fields = crate::shared::launch_link::read(&outcome.launch);
    assert_eq!((fields["target"].as_str(), fields["entry"].as_str()), ("hpu", "a.py"), "{fields:?}");
    assert!(launch::form::write(&fields, &launch::read_site).is_ok(), "{fields:?}");
    let Answer::Ported(outcome, _) = port(&mut desk, "x = 1\n").head else { panic!() };
    assert_eq!(outcome.launch, "target=hpu");
}

#[test]
fn a_launch_is_told_of_a_step_that_is_not_ported() {
    let mut desk = Desk::default();
    let text = "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(4, 2)\n\
        opt = torch.optim.SGD(net.parameters(), lr=0.1)\nloader = DataLoader([], batch_size=8)\nfor x, y in loader:\n    \
        loss = torch.nn.functional.cross_entropy(net(x), y)\n    loss.backward(gradient)\n    opt.step()\n";
    ask(&mut desk, Ask::Files(vec![("a.py".into(), false)]), &[text]);
    let options = Options { target: "ipu".into(), ..Options::default() };
    let Answer::Ported(outcome, _) = ask(&mut desk, Ask::Port { options, show: 0 }, &[]).head else { panic!() };
    let mut fields = crate::shared::launch_link::read(&outcome.launch);
    assert_eq!(fields["unported"], "a.py:9", "{fields:?}");
    fields.extend([("site", "tamu-aces"), ("cache", "/c")].map(|(name, value)| (name.to_owned(), value.to_owned())));
    let written = launch::form::write(&fields, &launch::read_site).expect("a script");
    assert!(written.plan.warnings[0].starts_with("a.py:9: this training step is not ported"), "{:?}", written.plan);
}

#[test]
fn nothing_asked_too_early_breaks_it() {
    let mut desk = Desk::default();
    assert_eq!(ask(&mut desk, Ask::Patch, &[]).texts, [""]);
    assert_eq!(ask(&mut desk, Ask::Show(7), &[]).head, Answer::Shown(Box::default()));
    ask(&mut desk, Ask::Text(3), &["x"]);
    port(&mut desk, "");
    ask(&mut desk, Ask::Show(7), &[]);
}

#[test]
fn configuration_is_read_for_the_launch_and_left_out_of_the_report() {
    let program = "import hydra\nimport torch\n\n\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n    \
        net = torch.nn.Linear(2, 2).cuda()\n    net(0).backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    let launch_and_report = |files: &[(&str, &str)]| {
        let mut desk = Desk::default();
        let (paths, texts): (Vec<&str>, Vec<&str>) = files.iter().copied().unzip();
        ask(&mut desk, Ask::Files(paths.into_iter().map(|path| (path.to_owned(), false)).collect()), &texts);
        let options = Options { target: "hpu".into(), ..Options::default() };
        let Answer::Ported(outcome, _) = ask(&mut desk, Ask::Port { options, show: 0 }, &[]).head else { panic!() };
        (outcome.launch, ask(&mut desk, Ask::Report, &[]).texts.remove(0))
    };
    let (launch, report) = launch_and_report(&[("conf/base.yaml", "batch_size: 12\n"), ("run.py", program)]);
    assert!(launch.contains("batch=12&batch-from=batch_size%20conf/base.yaml:1"), "{launch}");
    let (plain, same) = launch_and_report(&[("run.py", program)]);
    assert!(!plain.contains("batch="), "{plain}");
    assert_eq!(report, same);
    let (_, named) = launch_and_report(&[("conf/base.yaml", "device: cuda\n"), ("run.py", program)]);
    assert!(named.contains("\"path\": \"conf/base.yaml\""), "{named}");
}

#[test]
fn an_option_matters_when_another_value_makes_another_port() {
    let mut desk = Desk::default();
    let mut check = |text: &str, option: &str, matters: bool| {
        port(&mut desk, text);
        let targets = RecipeSet::embedded().targets();
        let hpu = targets.iter().find(|target| target.id == "hpu").expect("a target");
        let place = hpu.options.iter().position(|known| known.name == option).expect("an option");
        let options = Options { target: "hpu".into(), ..Options::default() };
        let tried = ask(&mut desk, Ask::Try { options, option: place }, &[]).head;
        assert_eq!(tried, Answer::Tried(matters), "{option}");
    };
    let plain = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nnet(0).backward()\n";
    check(plain, "lazy", true);
    check(plain, "zero", false);
    check("x = 1\n", "lazy", false);
    let lightning = "from lightning.pytorch import Trainer\nTrainer(max_epochs=3).fit(net)\n";
    check(lightning, "devices", true);
    check(&lightning.replace("max_epochs=3", "accelerator='gpu', strategy='ddp'"), "strategy", true);
}

/// What lets the step of a text be ported to the IPU, with the patch.
fn way_out(text: &str) -> Option<Unblocked> {
    way_out_on("ipu", text)
}

fn way_out_on(target: &str, text: &str) -> Option<Unblocked> {
    let mut desk = Desk::default();
    ask(&mut desk, Ask::Files(vec![("a.py".into(), false)]), &[text]);
    let options = Options { target: target.into(), ..Options::default() };
    ask(&mut desk, Ask::Port { options: options.clone(), show: 0 }, &[]);
    let mut total = 1;
    let mut found = None;
    let mut attempt = 0;
    while attempt < total && found.is_none() {
        let answer = ask(&mut desk, Ask::Unblock { options: options.clone(), attempt }, &[]);
        let Answer::Unblocked(unblocked, attempts) = answer.head else { panic!("{:?}", answer.head) };
        (found, total, attempt) = (unblocked, attempts, attempt + 1);
    }
    found.map(|found| *found)
}

const STEP: &str = "import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, batch_size=32)


def train():
    for image, label in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(image), label)
        loss.backward()
        optimizer.step()
";

#[test]
fn a_step_that_is_stopped_is_shown_without_what_stops_it() {
    assert_eq!(way_out(STEP), None, "nothing stops it");
    let check = |line: &str, with: &str, place: usize| {
        let found = way_out(&STEP.replace(line, with)).expect("the step without it");
        assert_eq!((&found.by, found.stops), (&Unblocking::Without(vec![("a.py".to_owned(), place)]), 0));
        assert!(found.patch.contains("+import poptorch"), "{}", found.patch);
        found.patch
    };
    let update = "        optimizer.step()";
    let patch = check(update, &format!("        print(net.weight.grad.norm())\n{update}"), 13);
    assert!(!patch.contains("grad.norm"), "{patch}");
    let forward = "        loss = torch.nn.functional.mse_loss(net(image), label)";
    let tested = "        output = net(image)
        if verbose:
            output = output.float()
        loss = torch.nn.functional.mse_loss(output, label)";
    let patch = check(forward, tested, 12);
    assert!(!patch.contains("verbose"), "{patch}");
}

#[test]
fn of_a_call_only_the_argument_that_stops_the_step_is_left_out() {
    let text = "import torch


def main():
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1, amsgrad=True)
    loader = torch.utils.data.DataLoader(data, batch_size=32)
    for number, (image, label) in enumerate(loader):
        output = net(image)
        loss = torch.nn.functional.mse_loss(output, label)
        loss = loss / 4
        loss.backward()
        if (number + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == \"__main__\":
    main()
";
    let found = way_out_on("rdu", text).expect("the step without them");
    assert_eq!(found.by, Unblocking::Without(vec![("a.py".to_owned(), 6), ("a.py".to_owned(), 13)]));
    assert!(found.patch.contains("samba.optim.AdamW("), "{}", found.patch);
}

#[test]
fn an_optimizer_that_is_refused_hides_nothing_of_the_step() {
    let clipped = "        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n        optimizer.step()";
    let found =
        way_out(&STEP.replace("SGD", "RMSprop").replace("        optimizer.step()", clipped)).expect("the step");
    assert_eq!(found.by, Unblocking::Without(vec![("a.py".to_owned(), 4)]));
    assert!(found.patch.contains("+        optimizer.max_grad_norm = 1.0"), "{}", found.patch);
}

#[test]
fn an_optimizer_that_the_target_lacks_is_replaced_by_an_option() {
    let text = STEP.replace("SGD(net.parameters(), lr=0.1)", "Adadelta(net.parameters(), lr=args.lr)");
    let found = way_out(&text).expect("the option");
    let Unblocking::Option { name, value, .. } = &found.by else { panic!("{:?}", found.by) };
    assert_eq!((name.as_str(), value.as_str(), found.stops), ("optimizer", "adam", 0));
    assert!(found.patch.contains("+optimizer = poptorch.optim.Adam(net.parameters(), lr=1e-3)"), "{}", found.patch);
}

#[test]
fn a_step_of_several_processes_is_ported_by_the_target_for_them() {
    let joined = "net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))";
    let text = STEP.replace("net = torch.nn.Linear(4, 2)", joined);
    let start = "import torch\nimport torch.distributed\n\ntorch.distributed.init_process_group(\"gloo\")\n";
    let found = way_out(&text.replace("import torch\n", start)).expect("another target");
    assert_eq!(found.by, Unblocking::Target { id: "popdist".to_owned(), name: "PopDist".to_owned() });
}

#[test]
fn a_patch_starts_from_what_the_user_has() {
    let mut desk = Desk::default();
    let (opened, edited) = ("net.cuda()\nx = 1\n", "net.cuda()\nx = 2\n");
    port(&mut desk, edited);
    let patch = ask(&mut desk, Ask::Patch, &[opened]).texts.remove(0);
    let ported = ask(&mut desk, Ask::Texts, &[]).texts.remove(0);
    assert_eq!(patch, codemod::git_patch_of("a.py", opened, &ported));
    assert!(patch.contains("-x = 1\n") && patch.contains("+x = 2\n"), "{patch}");
}

#[test]
fn what_is_told_of_two_strings_in_a_line_is_told_once() {
    let answer = port(
        &mut Desk::default(),
        "import torch\nx = {\"a\": \"cuda:nccl\", \"b\": \"cuda:nccl\"}\ny = \"cuda:nccl\"\n",
    );
    let Answer::Ported(outcome, _) = answer.head else { panic!("{:?}", answer.head) };
    let lines: Vec<usize> = outcome.files[0].diagnostics.iter().map(|d| d.ported.line).collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn a_notebook_is_given_back_as_its_file() {
    let json = r#"{"cells": [{"cell_type": "code", "source": "x = torch.rand(2).cuda()"}], "nbformat": 4}"#;
    let json = json.replace("x =", "import torch\\nx =");
    let program = "# %% [1]\nimport torch\nx = torch.rand(2).cuda()\n";
    let mut desk = Desk::default();
    ask(&mut desk, Ask::Files(vec![("a.ipynb".into(), true)]), &[program, &json]);
    let options = Options { target: "xpu".into(), ..Options::default() };
    ask(&mut desk, Ask::Port { options, show: 0 }, &[]);
    let ported = json.replace(".cuda()", r#".to(\"xpu\")"#);
    for request in [Ask::Texts, Ask::TextOf(0)] {
        assert_eq!(ask(&mut desk, request, &[]).texts, std::slice::from_ref(&ported));
    }
    assert_eq!(ask(&mut desk, Ask::TwinFiles, &[]).texts[1..], [json.clone(), ported.clone()]);
    assert_eq!(ask(&mut desk, Ask::Patch, &[]).texts, [codemod::git_patch_of("a.ipynb", &json, &ported)]);
    // Edited on the page: the patch is from the file as it was opened.
    ask(&mut desk, Ask::Text(0), &[&program.replace("rand(2)", "rand(3)")]);
    ask(&mut desk, Ask::Port { options: Options { target: "xpu".into(), ..Options::default() }, show: 0 }, &[]);
    let patch = ask(&mut desk, Ask::Patch, &[program]).texts;
    assert_eq!(patch, [codemod::git_patch_of("a.ipynb", &json, &ported.replace("rand(2)", "rand(3)"))]);
}

const GUIDE: &str = "+++
title = \"Our readers\"
target = \"hpu\"
+++

### Read events on the host {#read-events}

`fastevents.load_gpu` fills buffers on an NVIDIA GPU.

Source: its README.

Remedy: load them on the host.

```says
fastevents: no NVIDIA GPU to fill
```

```diff rule
- fastevents.load_gpu($FILE)
+ fastevents.load($FILE)
```
";

const EVENTS: &str =
    "import fastevents\n\nnet = fastevents.load_gpu(\"a\").cuda()\n\nif __name__ == \"__main__\":\n    print(net)\n";

/// A desk that reads guides natively, and its answer to these.
fn with_guides(guides: &[(&str, &str)]) -> (Desk, Catalogue) {
    let mut desk = Desk::default();
    desk.read_guides_with(Some(Box::new(crate::port::work::guide_file::read)));
    let catalogue = catalogue_with(&mut desk, guides);
    (desk, catalogue)
}

fn catalogue_with(desk: &mut Desk, guides: &[(&str, &str)]) -> Catalogue {
    let (paths, texts): (Vec<String>, Vec<&str>) = guides.iter().map(|(path, text)| (path.to_string(), *text)).unzip();
    let Answer::Catalogue(catalogue) = ask(desk, Ask::Catalogue(paths), &texts).head else { panic!() };
    catalogue
}

#[test]
fn a_guide_of_the_users_ports_and_explains() {
    let (mut desk, catalogue) = with_guides(&[("events.md", GUIDE)]);
    assert_eq!((catalogue.added, catalogue.faults), (vec!["Our readers: 1 recipe for HPU".to_owned()], vec![]));
    assert!(catalogue.recipes.iter().any(|recipe| recipe.id == "events#read-events" && recipe.source == "its README."));
    let answer = port(&mut desk, EVENTS);
    assert!(answer.texts[0].contains("fastevents.load(\"a\").to(\"hpu\")"), "{}", answer.texts[0]);
    let Answer::Ported(outcome, _) = answer.head else { panic!() };
    let command = outcome.twin.and_then(|twin| twin.portolan).expect("a command");
    assert_eq!(command, "portolan rehearse --target hpu --guides guides a.py");
    assert!(ask(&mut desk, Ask::Report, &[]).texts[0].contains("\"source\": \"its README.\""));
    let log = "RuntimeError: fastevents: no NVIDIA GPU to fill";
    let options = Options { target: "hpu".into(), ..Options::default() };
    let Answer::Explained(found) = ask(&mut desk, Ask::Explain(options), &[log]).head else { panic!() };
    assert_eq!(found.candidates[0].section, "events#read-events");
    // Without it, everything is as before.
    let built_in = catalogue_with(&mut desk, &[]);
    assert_eq!(built_in, catalogue_with(&mut Desk::default(), &[]));
    assert!(port(&mut desk, EVENTS).texts[0].contains("fastevents.load_gpu(\"a\").to(\"hpu\")"));
}

#[test]
fn a_guide_with_errors_is_not_used_and_they_have_lines() {
    let check = |from: &str, to: &str, expected: &str| {
        let guide = GUIDE.replace(from, to);
        let (mut desk, catalogue) = with_guides(&[("events.md", &guide), ("good.md", GUIDE)]);
        assert_eq!((catalogue.added.len(), catalogue.faults.len()), (0, 1), "{:?}", catalogue.faults);
        assert!(catalogue.faults[0].starts_with(&format!("events.md:{expected}")), "{:?}", catalogue.faults);
        assert!(port(&mut desk, EVENTS).texts[0].contains("load_gpu"), "{from}");
    };
    check("title = \"Our readers\"", "title = Our readers", "2: ");
    check("diff rule", "diff rule usafe", "18: unknown word `usafe`");
    check("+ fastevents.load($FILE)", "+ fastevents.load($PATH)", "20: `$PATH` is written but never matched");
    check("- fastevents.load_gpu($FILE)", "- fastevents.load_gpu($FILE", "19: ");
    check("target = \"hpu\"", "target = \"hpuu\"", "3: `target = \"hpuu\"`: unknown target");
}

#[test]
fn a_target_of_a_guide_is_a_target() {
    let guide = GUIDE.replace("target = \"hpu\"", "target = \"ours\"\nextends = \"hpu\"");
    let (mut desk, catalogue) = with_guides(&[("events.md", &guide)]);
    assert_eq!(catalogue.added, ["Our readers: 1 recipe for OURS"]);
    ask(&mut desk, Ask::Files(vec![("a.py".into(), false)]), &[EVENTS]);
    let options = Options { target: "ours".into(), ..Options::default() };
    let ported = ask(&mut desk, Ask::Port { options: options.clone(), show: 0 }, &[]).texts.remove(0);
    assert!(ported.contains("fastevents.load(\"a\").to(\"hpu\")"), "{ported}");
    let columns = catalogue.targets.len();
    assert!(
        matches!(ask(&mut desk, Ask::Matrix { options, column: 0 }, &[]).head, Answer::Matrix(1, total, _) if total == columns)
    );
}
