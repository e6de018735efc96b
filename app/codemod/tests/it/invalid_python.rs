//! Files that are not Python, and ports that would not be.

use crate::ports::{check_bytes, in_place, port_files, port_script};
use codemod::Severity;

/// A file that can't be ported is unchanged, with one error that says where and why.
fn check_unreadable(text: &str, line: usize, column: usize, words: &str) {
    let ported = port_files(&[("a.py", text)], &in_place("hpu"));
    let file = &ported.files[0];
    assert_eq!(file.text, text);
    let error = file.diagnostics.iter().find(|d| d.severity == Severity::Error).expect("an error");
    assert!(error.message.contains(words), "{}", error.message);
    assert_eq!((error.original.line, error.original.column), (line, column), "{}", error.message);
}

#[test]
fn text_that_is_no_python_is_left_alone() {
    check_unreadable("def f(:\n    pass\n", 1, 7, "not Python");
    check_unreadable(
        "import torch\nnet = Net().cuda(\nfor x in loader:\n    f(x)\n",
        2,
        17,
        "this `(` is never closed",
    );
    check_unreadable("net = Net([1, 2)\nx = 1\nfor\n", 1, 16, "not Python");
    check_unreadable("x = 1\nprint \"loss\", x\n", 2, 1, "Python 2");
    check_unreadable("x = 1\n\0\n", 2, 1, "NUL");
    check_bytes("hpu", "", "");
    // The parser's own error is at the end of a line above.
    let stages = "def model():\n    x = f()\n\n    # For the first stage.\n    with FIXME\n        x = g(x)\n\n    \
        # For the second.\n    with FIXME\n        x = h(x)\n    return x\n";
    check_unreadable(stages, 5, 5, "not Python: `with FIXME`");
}

#[test]
fn an_indentation_that_python_refuses_is_told() {
    check_unreadable("x = 1\n    y = x.cuda()\n", 2, 5, "not Python");
    check_unreadable("def f(x):\n    x = x.cuda()\n\treturn x\n", 3, 2, "not Python");
    let text = "x = 1; \\\n    y = 2\n\u{c}\nif x:\n        # Two.\n    y = 3\n\u{c}z = y\n";
    check_bytes("hpu", text, text);
}

#[test]
fn what_python_would_not_run_is_refused_at_its_place() {
    // The class of a step would be above the import of its base.
    let step = "from torch.utils.data import DataLoader\nloader = DataLoader(ds, batch_size=4)\nnet = f()\n\
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    optimizer.zero_grad()\n    \
        out = net(x)\n    loss = torch.nn.functional.mse_loss(out, y)\n    loss.backward()\n    optimizer.step()\n";
    let text = format!("import torch\n{step}print(out.mean())\n");
    let ported = port_script("ipu", &text);
    let told = &ported.files[0].diagnostics;
    assert!(told.iter().any(|d| d.message.contains("`out` would be undefined")), "{told:?}");
    assert!(ported.files[0].text.contains("loss.backward()"), "a step is ported as a whole or not at all");
}
