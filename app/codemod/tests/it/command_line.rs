//! Where a port to the RDU removes SambaFlow's part from the command line: above any code that needs it or parses the
//! program's own.

use crate::ports::port_script;

const MAKES: &str = "net = torch.nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n";

const TRAINS: &str = "\n\ndef main():\n    for image, wanted in DataLoader(events, batch_size=8):\n        opt.zero_grad()\n        \
     loss = torch.nn.functional.mse_loss(net(image), wanted)\n        loss.backward()\n        opt.step()\n\n\n";

const GUARD: &str = "if __name__ == \"__main__\":\n    main()\n";

const ARGUMENTS: &str = "def arguments():\n    return argparse.ArgumentParser().parse_args()\n\n\n";

/// The statement above which the command line is parsed.
fn check_above(program: &[&str], statement: &str) {
    let text =
        format!("import argparse\n\nimport torch\nfrom torch.utils.data import DataLoader\n\n\n{}", program.concat());
    let text = &port_script("rdu", &text).files[0].text;
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "rdu.read_command_line()");
    assert_eq!(lines.nth(1), Some(statement), "{text}");
    assert_eq!(text.matches("rdu.read_command_line()").count(), 1, "{text}");
}

#[test]
fn what_a_main_block_starts_waits_for_it() {
    let makes: String = MAKES.lines().map(|line| format!("    {line}\n")).collect();
    check_above(
        &["def build():\n", &makes, "    return net, opt\n\n\nnet, opt = None, None\n", TRAINS, GUARD],
        "main()",
    );
    check_above(&[MAKES, TRAINS, "main()\n"], "rdu.take(net)");
}

#[test]
fn what_the_module_makes_is_above_its_main_block() {
    check_above(&[MAKES, TRAINS, GUARD], "rdu.take(net)");
    let makes: String = MAKES.lines().map(|line| format!("    {line}\n")).collect();
    let build = format!("def build():\n{makes}    return net, opt\n\n\n");
    check_above(&[&build, "net, opt = build()\n", TRAINS, GUARD], "net, opt = build()");
    let kept = format!(
        "class Kept:\n    def __init__(self):\n{}        self.net = net\n\n\n",
        makes.replace("    ", "        ")
    );
    check_above(&[&kept, "kept = Kept()\n", TRAINS, GUARD], "kept = Kept()");
}

#[test]
fn what_the_module_reads_of_the_command_line_comes_behind_it() {
    check_above(&[ARGUMENTS, "args = arguments()\n", MAKES, TRAINS, GUARD], "args = arguments()");
    check_above(
        &[ARGUMENTS, MAKES, &TRAINS.replace("main():\n", "main():\n    args = arguments()\n"), GUARD],
        "rdu.take(net)",
    );
}
