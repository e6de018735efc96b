//! Where a port to the RDU removes SambaFlow's part from the command line: above any code that needs it or parses the
//! program's own.

use codemod::{Options, RecipeSet, Style, port};
use python::SourceFile;

const MAKES: &str = "net = torch.nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n";
const TRAINS: &str = "\n\ndef main():\n    for image, wanted in DataLoader(events, batch_size=8):\n        opt.zero_grad()\n        \
     loss = torch.nn.functional.mse_loss(net(image), wanted)\n        loss.backward()\n        opt.step()\n\n\n";
const GUARD: &str = "if __name__ == \"__main__\":\n    main()\n";
const ARGUMENTS: &str = "def arguments():\n    return argparse.ArgumentParser().parse_args()\n\n\n";

/// The statement above which the command line is parsed.
fn check(program: &[&str], statement: &str) {
    let text =
        format!("import argparse\n\nimport torch\nfrom torch.utils.data import DataLoader\n\n\n{}", program.concat());
    let options = Options { target: "rdu".to_owned(), style: Style::InPlace, ..Options::default() };
    let ported = port(&[SourceFile { path: "a.py".to_owned(), text }], RecipeSet::embedded(), &options);
    let text = &ported.files[0].text;
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "rdu.read_command_line()");
    assert_eq!(lines.nth(1), Some(statement), "{text}");
    assert_eq!(text.matches("rdu.read_command_line()").count(), 1, "{text}");
}

#[test]
fn what_a_main_block_starts_waits_for_it() {
    let makes: String = MAKES.lines().map(|line| format!("    {line}\n")).collect();
    check(&["def build():\n", &makes, "    return net, opt\n\n\nnet, opt = None, None\n", TRAINS, GUARD], "main()");
    check(&[MAKES, TRAINS, "main()\n"], "rdu.take(net)");
}

#[test]
fn what_the_module_makes_is_above_its_main_block() {
    check(&[MAKES, TRAINS, GUARD], "rdu.take(net)");
    let makes: String = MAKES.lines().map(|line| format!("    {line}\n")).collect();
    let build = format!("def build():\n{makes}    return net, opt\n\n\n");
    check(&[&build, "net, opt = build()\n", TRAINS, GUARD], "net, opt = build()");
    let kept = format!(
        "class Kept:\n    def __init__(self):\n{}        self.net = net\n\n\n",
        makes.replace("    ", "        ")
    );
    check(&[&kept, "kept = Kept()\n", TRAINS, GUARD], "kept = Kept()");
}

#[test]
fn what_the_module_reads_of_the_command_line_comes_behind_it() {
    check(&[ARGUMENTS, "args = arguments()\n", MAKES, TRAINS, GUARD], "args = arguments()");
    check(
        &[ARGUMENTS, MAKES, &TRAINS.replace("main():\n", "main():\n    args = arguments()\n"), GUARD],
        "rdu.take(net)",
    );
}
