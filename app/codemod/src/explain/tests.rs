use super::{Explanation, PortedProject, check_samples, explain};
use crate::ported::{Options, SourceFile};
use crate::recipe::RecipeSet;
use crate::{embedded_guides, port};
use guide::Guide;

fn page(name: &str, front: &str, body: &str) -> Guide {
    let text = format!("+++\ntitle = \"T\"\n{front}\n+++\n{body}");
    Guide::parse(&format!("guides/{name}.md"), &text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn section(id: &str, says: &str) -> String {
    format!("## {id}\nCause of {id}.\n\nRemedy: mend {id}.\n\nHolds for: all.\n\nSource: s.\n```says\n{says}\n```\n")
}

/// Two targets, of which the second extends the first, and a page for all.
fn guides() -> Vec<Guide> {
    let list =
        "```names lacks\ntorch.svd\n```\n```diff rule manual\n  $F($$$A)\n```\n```where\n$F is one of @lacks\n```\n";
    vec![
        page("all", "", &[section("cuda", "no CUDA card here"), section("driver", "no driver of the card")].concat()),
        page(
            "one",
            "target = \"one\"",
            &format!(
                "{}{}## lacks\nNot there.\n{list}",
                section("busy", "card … is busy"),
                section("ops", "unsupported operation 'aten::…'")
            ),
        ),
        page("two", "target = \"two\"\nextends = \"one\"", &section("join", "the processes don't join")),
    ]
}

fn ids(found: &Explanation) -> Vec<String> {
    found.candidates.iter().map(|one| format!("{}:{} {}", one.line, one.section, one.text)).collect()
}

#[track_caller]
fn check(log: &str, expected: &[&str]) {
    assert_eq!(ids(&explain(log, &guides(), None, None)), expected, "{log}");
}

#[track_caller]
fn check_for(target: &str, log: &str, expected: &[&str]) {
    assert_eq!(ids(&explain(log, &guides(), Some(target), None)), expected, "{target}: {log}");
}

#[test]
fn a_message_is_found_in_a_log() {
    check("RuntimeError: no CUDA card here", &["1:all#cuda RuntimeError: no CUDA card here"]);
    check(
        "a\n\n\u{1b}[31m[rank3]: RuntimeError: Card 4 is busy\u{1b}[0m\n",
        &["3:one#busy RuntimeError: Card 4 is busy"],
    );
    check("10:02:11 ERROR no CUDA card\n        here, so", &["1:all#cuda 10:02:11 ERROR no CUDA card"]);
    check("  50%|#  |\rno CUDA card here", &["1:all#cuda no CUDA card here"]);
    check("the card is fine\nfailed: exit status 1", &[]);
    check("", &[]);
}

#[test]
fn the_first_exception_comes_first() {
    let chained = "warning: no driver of the card\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n\
                   KeyError: 'no CUDA card here'\n\nDuring handling of the above exception, another exception occurred:\n\n\
                   Traceback (most recent call last):\nRuntimeError: card 0 is busy\n";
    let expected = [
        "4:all#cuda KeyError: 'no CUDA card here'",
        "9:one#busy RuntimeError: card 0 is busy",
        "1:all#driver warning: no driver of the card",
    ];
    check(chained, &expected);
    // What one process says again, or says in a traceback's code, is no other candidate.
    let ranks = "    raise Lost(\"card 0 is busy\")\n0: ValueError: card 0 is busy\n1: ValueError: card 1 is busy";
    check(ranks, &["2:one#busy ValueError: card 0 is busy"]);
}

#[test]
fn an_error_comes_before_a_warning() {
    let log =
        "2024-05-01 12:00:01.5: I a.cc:3] card 1 is busy\n12:00:02 WARNING no driver of the card\nno CUDA card here\n";
    check(
        log,
        &[
            "3:all#cuda no CUDA card here",
            "2:all#driver 12:00:02 WARNING no driver of the card",
            "1:one#busy 2024-05-01 12:00:01.5: I a.cc:3] card 1 is busy",
        ],
    );
}

#[test]
fn the_sample_that_says_more_leads() {
    let guides = vec![page(
        "all",
        "",
        &[section("any", "no attribute '"), section("amp", "no attribute 'amp'"), section("other", "module 'card'")]
            .concat(),
    )];
    let check = |log: &str, expected: &[&str]| assert_eq!(ids(&explain(log, &guides, None, None)), expected);
    let log = "module 'card' has no attribute 'amp'";
    check(log, &[&format!("1:all#amp {log}"), &format!("1:all#other {log}")]);
    check("net has no attribute 'to'", &["1:all#any net has no attribute 'to'"]);
}

#[test]
fn at_most_three() {
    let log = "no CUDA card here\nno driver of the card\ncard 1 is busy\nthe processes don't join\n";
    assert_eq!(explain(log, &guides(), None, None).candidates.len(), 3);
}

#[test]
fn another_targets_sections_are_not_candidates() {
    let log = "RuntimeError: card 1 is busy\nthe processes don't join";
    let busy = "1:one#busy RuntimeError: card 1 is busy";
    check_for("one", log, &[busy]);
    check_for("two", log, &[busy, "2:two#join the processes don't join"]);
    check_for("three", log, &[]);
    check_for("three", "no CUDA card here", &["1:all#cuda no CUDA card here"]);
}

#[test]
fn an_operation_is_looked_up() {
    let found = explain("Error: unsupported operation 'aten::svd'", &guides(), None, None);
    let of: Vec<&str> = found.candidates.iter().map(|one| one.section.as_str()).collect();
    assert_eq!(of, ["one#lacks", "one#ops"]);
    let operation = found.candidates[0].operation.clone().expect("it names one");
    assert_eq!((operation.name.as_str(), operation.listed.as_deref()), ("aten::svd", Some("torch.svd")));
    let found = explain("Error: unsupported operation 'aten::add'", &guides(), Some("two"), None);
    let operation = found.candidates[0].operation.clone().expect("it names one");
    assert_eq!((found.candidates.len(), operation.listed), (1, None));
}

#[test]
fn samples_are_checked() {
    let check = |body: &str, expected: &[&str]| {
        let guides = [page("all", "", body)];
        let found: Vec<String> = check_samples(&guides).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    };
    check(&[section("cuda", "no CUDA card here"), section("busy", "card … is busy")].concat(), &[]);
    let both = [section("cuda", "card is busy now"), section("busy", "the card is busy")].concat();
    check(&both, &[]);
    let within = [section("cuda", "the card is busy now"), section("busy", "the card is busy")].concat();
    check(&within, &[]);
    let across = [section("cuda", "the … is busy right now"), section("busy", "is busy right")].concat();
    check(&across, &[]);
    let twice = [section("cuda", "the card is busy"), section("busy", "the card is busy")].concat();
    check(&twice, &["guides/all.md:14: this line leads to all#busy", "guides/all.md:25: this line leads to all#cuda"]);
    let nothing = "```says nothing\nthe card is busy, said the doorman\n```\n";
    check(
        &[&section("busy", "the card is busy"), nothing].concat(),
        &["guides/all.md:17: this line leads to all#busy"],
    );
}

const SCRIPT: &str = "import torch\n\nnet = torch.nn.Linear(2, 2)\nnet = net.cuda()\ntorch.jit.script(net)\nx = torch.zeros(2)\nx = x.cuda()\n";

/// The frames of a log, each as `path:line side ported/original code`, with its recipes and its messages' recipes.
fn frames(log: &str, options: &Options) -> Vec<String> {
    let recipes = RecipeSet::embedded();
    let files = [SourceFile { path: "src/train.py".into(), text: SCRIPT.into() }];
    let ported = port(&files, recipes, options);
    let all = Options { rejected_recipes: Vec::new(), rejected_edits: Vec::new(), ..options.clone() };
    let unrejected = (all != *options).then(|| port(&files, recipes, &all));
    let project = PortedProject { files: &files, ported: &ported, unrejected: unrejected.as_ref() };
    let found = explain(log, embedded_guides(), Some("xpu"), Some(project));
    let line = |frame: &super::Frame| {
        let number = |line: Option<usize>| line.map_or("-".to_owned(), |line| line.to_string());
        let mut line = format!(
            "{}:{} {:?} {}/{} {}",
            frame.path,
            frame.line,
            frame.side,
            number(frame.ported),
            number(frame.original),
            frame.code
        );
        frame
            .recipes
            .iter()
            .for_each(|of| line += &format!(" [{}{}]", if of.rejected { "rejected " } else { "" }, of.recipe));
        frame.messages.iter().for_each(|of| line += &format!(" ({})", of.recipe));
        line
    };
    found.frames.iter().map(line).collect()
}

#[track_caller]
fn check_frames(log: &str, expected: &[&str]) {
    let options = Options { target: "xpu".into(), ..Options::default() };
    assert_eq!(frames(log, &options), expected, "{log}");
}

#[test]
fn the_users_lines_are_mapped() {
    let ported = "  File \"/home/me/src/train.py\", line 4, in <module>\n    net = net.to(\"xpu\")\n";
    check_frames(ported, &["src/train.py:4 Ported 4/4 net = net.to(\"xpu\") [xpu#model-to-device]"]);
    let original = "  File \"train.py\", line 4, in <module>\n    net = net.cuda()\n";
    check_frames(original, &["src/train.py:4 Original 4/4 net = net.cuda() [xpu#model-to-device]"]);
    // The innermost frame comes first; a line is listed once.
    let two = format!("{ported}  File \"/home/me/src/train.py\", line 7, in <module>\n    x = x.to(\"xpu\")\n{ported}");
    check_frames(
        &two,
        &[
            "src/train.py:4 Ported 4/4 net = net.to(\"xpu\") [xpu#model-to-device]",
            "src/train.py:7 Ported 7/7 x = x.to(\"xpu\") [xpu#model-to-device]",
        ],
    );
}

#[test]
fn a_file_that_was_edited_has_its_line_elsewhere_or_not_at_all() {
    check_frames(
        "File \"train.py\", line 40, in f\n  x = x.to(\"xpu\")",
        &["src/train.py:40 Ported 7/7 x = x.to(\"xpu\") [xpu#model-to-device]"],
    );
    check_frames("File \"train.py\", line 4, in f\n  y = 3", &["src/train.py:4 Neither -/- y = 3"]);
}

#[test]
fn the_code_is_found_in_each_form_of_a_traceback() {
    let expected = ["src/train.py:4 Original 4/4 net = net.cuda() [xpu#model-to-device]"];
    let code = "net = net.cuda()";
    check_frames(
        &format!("File ~/src/train.py:4, in <module>\n      2 \n      3 net = 1\n----> 4 {code}\n"),
        &expected,
    );
    check_frames(&format!("│ /src/train.py:4 in <module> │\n│   3 net = 1   │\n│ ❱ 4 {code}     │\n"), &expected);
    check_frames(&format!("[rank1]:   File \"train.py\", line 4, in f\n[rank1]:     {code}\n"), &expected);
    check_frames(&format!("1 | File \"train.py\", line 4, in f\n2 |     {code}\n"), &expected);
    let ported = "src/train.py:4 Ported 4/4 net = net.to(\"xpu\") [xpu#model-to-device]";
    check_frames("File ~/src/train.py:4, in <module>\n", &[ported]);
    check_frames("  File \"train.py\", line 4, in f\nKeyError: 3\n", &[ported]);
    // Not every line that ends in the same way is the one.
    check_frames(
        "  File \"train.py\", line 4, in f\n    other(net = net.cuda()\n",
        &["src/train.py:4 Neither -/- other(net = net.cuda()"],
    );
}

#[test]
fn a_cell_of_a_notebook_is_found_by_its_code() {
    let recipes = RecipeSet::embedded();
    let text = "# %% [2]\nimport torch\n# %% [3:2] %%time\nnet = torch.nn.Linear(2, 2)\nnet = net.cuda()\n";
    let files = [SourceFile { path: "a.ipynb".into(), text: text.into() }];
    let ported = port(&files, recipes, &Options { target: "hpu".into(), ..Options::default() });
    let project = PortedProject { files: &files, ported: &ported, unrejected: None };
    let check = |log: &str, expected: &[(&str, &str)]| {
        let found = explain(log, embedded_guides(), Some("hpu"), Some(project)).frames;
        let found: Vec<(String, String)> = found.iter().map(super::Frame::shown).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(found, expected, "{log}");
    };
    let log = "Cell In[7], line 3\n      1 get_ipython()\n----> 3 net = net.cuda()\n";
    check(log, &[("cell 3:3", "cell 3:3")]);
    check(&log.repeat(2), &[("cell 3:3", "cell 3:3")]);
    check(&log.replace("net.cuda()", "net.to(\"hpu\")"), &[("cell 3:3", "cell 3:3")]);
    check(&log.replace("line 3", "line 2").replace("> 3", "> 2"), &[]);
    check("Cell In[7], line 3\n", &[]);
}

#[test]
fn packages_and_other_files_are_no_frames() {
    check_frames("File \"/usr/lib/python3.11/site-packages/src/train.py\", line 4, in f\n  net = net.cuda()", &[]);
    check_frames("File \"other.py\", line 4, in f\n  net = net.cuda()", &[]);
    check_frames("File \"retrain.py\", line 4, in f\n  net = net.cuda()", &[]);
}

#[test]
fn what_was_rejected_is_told() {
    let options =
        Options { target: "xpu".into(), rejected_recipes: vec!["xpu#model-to-device".into()], ..Options::default() };
    let log = "File \"train.py\", line 4, in <module>\n    net = net.cuda()\n";
    let found = frames(log, &options);
    assert!(found[0].contains("Ported 4/4 net = net.cuda() [rejected xpu#model-to-device]"), "{found:?}");
}

#[test]
fn a_log_of_any_bytes_is_read() {
    for log in
        ["\r\r\r", "…", "aten::", "File \".py\", line 1", "é: \u{1b}[31", "\0\u{7f}RuntimeError:", "Error", "xception"]
    {
        let _ = frames(log, &Options { target: "xpu".into(), ..Options::default() });
    }
}
