//! Training steps on targets that compile them.

mod accumulation;
mod constants;
mod gradients;
mod inputs;
mod learning_rate;
mod lines;
mod loss;
mod model;
mod optimizers;
mod outputs;
mod weights;

use crate::ports::{SCRIPT, ported_script};

/// The model and the optimizer.
pub(super) const HEAD: &str = "import torch\nfrom torch.nn import functional as F\n\nmodel = torch.nn.Linear(3, 3)\n\
                    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";

/// The statements of a step behind [`HEAD`].
pub(super) const BODY: &str = "out = model(x)\nloss = F.mse_loss(out, y) + WEIGHT * out.pow(2).mean()\noptimizer.zero_grad()\n\
                    loss.backward()\noptimizer.step()\n";

/// [`BODY`], indented, with an expression for the weight of its second term.
pub(super) fn step_lines(weight: &str, depth: usize) -> String {
    BODY.replace("WEIGHT", weight).lines().map(|line| format!("{}{line}\n", "    ".repeat(depth))).collect()
}

/// The text of a script's port to the IPU, and all messages.
pub(super) fn to_ipu(text: &str) -> (String, String) {
    ported_script("ipu", text)
}

/// A script that is not changed, with some words of the reason.
#[track_caller]
pub(super) fn check_refused(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert_eq!(ported, text);
    assert!(said.contains(words), "{said}");
}

/// A step that takes `x` and `y`, with some code of the port.
#[track_caller]
pub(super) fn check_ported(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert!(ported.contains("training_step(x, y)") && ported.contains(words), "{said}{ported}");
}

/// [`SCRIPT`] with other arguments of the model, below `head`.
pub(super) fn with_call(head: &str, call: &str) -> String {
    SCRIPT.replace("model(x)", call).replace("\nmodel =", &format!("\n{head}model ="))
}

/// Some code of the port.
#[track_caller]
pub(super) fn check_has(text: &str, words: &[&str]) {
    let (ported, said) = to_ipu(text);
    for word in words {
        assert!(ported.contains(word), "{word}\n{said}{ported}");
    }
}

/// A script whose step is not ported, but may be changed elsewhere; with some words of the reason.
#[track_caller]
pub(super) fn check_not_compiled(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert!(!ported.contains("poptorch") && said.contains(words), "{said}{ported}");
}

/// A loop over `header` with a loss.
pub(super) fn training(above: &str, header: &str, in_loop: &str, loss: &str) -> String {
    let update = "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n";
    format!("{HEAD}{above}for {header}:\n{in_loop}    loss = {loss}\n{update}")
}
