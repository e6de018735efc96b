//! Comments above the places that a port leaves to a person.

use crate::ports::{in_place, port_files};
use codemod::{Options, Ported, Totals};
use codemod::{RecipeSet, Severity};

fn port(text: &str, annotate: bool) -> Ported {
    let ported = port_files(&[("a.py", text)], &Options { annotate, ..in_place("xpu") });
    let certificate = &ported.certificate;
    assert!(certificate.parses && certificate.idempotent && certificate.comments_kept, "{text}");
    ported
}

#[track_caller]
fn check(before: &str, after: &str) {
    let ported = port(before, true);
    assert_eq!(ported.files[0].text, after, "{before}");
    // Messages are about the lines of the new text.
    for left in ported.files[0].diagnostics.iter().filter(|left| left.severity == Severity::Warning) {
        let above = ported.files[0].text.lines().take(left.ported.line).filter(|line| line.contains("# portolan: "));
        assert!(above.count() > 0, "{left:?}");
    }
    for annotate in [true, false] {
        assert_eq!(port(after, annotate).files[0].text, after, "a second port of {before}");
    }
}

const LEFT: &str = "# portolan: xpu#data-parallel: Replace DataParallel\n";

#[test]
fn a_comment_stands_above_the_statement() {
    let start = "import torch\n\n";
    let after = |indent: &str| format!("{indent}{LEFT}");
    check(
        &format!("{start}net = torch.nn.DataParallel(\n    net)\n"),
        &format!("{start}{LEFT}net = torch.nn.DataParallel(\n    net)\n"),
    );
    check(
        &format!("{start}def f(net):\n\tif net: return torch.nn.DataParallel(net)\n"),
        &format!("{start}def f(net):\n{}\tif net: return torch.nn.DataParallel(net)\n", after("\t")),
    );
    check(
        &format!("{start}net = 1; net = torch.nn.DataParallel(net)\n"),
        &format!("{start}{LEFT}net = 1; net = torch.nn.DataParallel(net)\n"),
    );
    check(
        "\u{feff}import bad_cuda\nimport torch\n",
        "\u{feff}# portolan: engine#residue: References to CUDA remain\nimport bad_cuda\nimport torch\n",
    );
    check(&format!("{start}net.cuda()\n"), &format!("{start}net.to(\"xpu\")\n"));
    let crlf = format!("{start}net = torch.nn.DataParallel(net)\n").replace('\n', "\r\n");
    check(&crlf, &format!("{start}{LEFT}net = torch.nn.DataParallel(net)\n").replace('\n', "\r\n"));
}

#[test]
fn a_done_place_has_none() {
    let done = format!("import torch\n\n{LEFT}# Why it is so.\nnet = torch.nn.Sequential(net)\n");
    assert_eq!(port(&done, false).files[0].text, done.replace(LEFT, ""));
    let moved = format!("import torch\n\n{LEFT}x = 1\nnet = torch.nn.DataParallel(net)\n");
    assert_eq!(
        port(&moved, true).files[0].text,
        format!("import torch\n\nx = 1\n{LEFT}net = torch.nn.DataParallel(net)\n")
    );
}

#[test]
fn other_comments_stay() {
    for comment in ["# portolan was tried here", "# portolan: see issue 12", "# portolan-ignore: keep"] {
        let text = format!("import torch\n\n{comment}\nx = 1\n");
        assert_eq!(port(&text, true).files[0].text, text);
    }
}

#[test]
fn comments_are_no_changes_and_can_be_rejected() {
    let text = "import torch\n\nnet = torch.nn.DataParallel(net)\n";
    let ported = port(text, true);
    let totals = Totals::of("xpu", std::iter::once((text, &ported.files[0])), RecipeSet::embedded());
    assert_eq!((totals.all.done, totals.all.to_do), (0, 1));
    let id = ported.files[0].edits[0].id.clone();
    let options = Options { annotate: true, rejected_edits: vec![id], ..in_place("xpu") };
    assert_eq!(port_files(&[("a.py", text)], &options).files[0].text, text);
}
