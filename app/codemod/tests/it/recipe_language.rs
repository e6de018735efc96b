//! The language of recipes: named definitions, and rules that prevent a training step from being ported.

use codemod::{Options, RecipeSet, Severity, port};
use guide::Guide;
use python::SourceFile;

fn page(body: &str) -> Guide {
    let front = "+++\ntitle = \"T\"\ntarget = \"t\"\nsdks = [\"1.0\"]\n+++\n## A\nWhy.\n";
    Guide::parse("guides/t.md", &format!("{front}{body}")).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The errors of a guide with this section, whose first line is line 8, one per line.
#[track_caller]
fn check_faults(body: &str, expected: &str) {
    let faults = match RecipeSet::compile(&[page(body)]) {
        Ok(_) => String::new(),
        Err(faults) => faults.iter().map(|fault| format!("{}: {}\n", fault.line, fault.message)).collect(),
    };
    assert_eq!(faults, expected);
}

const RULE: &str = "```diff rule\n- f($X)\n+ g($X)\n```\n";

#[test]
fn what_nothing_asks_for_is_a_fault() {
    check_faults(&format!("{RULE}```names a\nb\n```\n"), "12: `@a`: unused list; remove it\n");
    check_faults(&format!("{RULE}```conditions a\nfile trains\n```\n"), "12: `@a`: unused conditions; remove it\n");
    check_faults(&format!("{RULE}```message a\nb\n```\n"), "12: `a`: unused message; remove it\n");
    check_faults(&format!("{RULE}```python block a\nb\n```\n"), "12: `a`: unused block; remove it\n");
    check_faults(&format!("{RULE}```signatures\nh(a)\n```\n"), "13: `h`: unused signature; remove it\n");
}

#[test]
fn what_is_not_there_can_not_be_asked_for() {
    check_faults(&format!("{RULE}```where\n$X is one of @a\n```\n"), "13: unknown list `names a`\n");
    check_faults(&format!("{RULE}```where\n\n@a\n```\n"), "14: unknown conditions `a`\n");
    check_faults("```diff rule says=a\n  f($X)\n```\n", "8: unknown message `a`\n");
    check_faults("```diff rule\n- f()\n+ g()\n+ {{block a}}\n```\n", "8: unknown block `python block a`\n");
}

#[test]
fn definitions_are_checked() {
    check_faults(
        "```message a\n{{Y}} is old\n```\n```diff rule says=a\n  f($X)\n```\n",
        "11: `message a` uses `Y`, but the rule has no `$Y`\n",
    );
    check_faults(
        "```python block a\nx = 1\n```\n```diff rule\n- f()\n+ g()\n+ {{block a}}\n```\n",
        "11: `python block a` defines no top-level function or class\n",
    );
    check_faults(
        "```python block a\ndef g():\n    {{if x}}\n```\n```diff rule\n- f()\n+ g()\n+ {{block a}}\n```\n",
        "10: this has no matching `{{end}}`\n12: unknown block `python block a`\n",
    );
    check_faults(
        &format!("{RULE}```where\n@a\n```\n```conditions a\nany of:\n  @b\n```\n```conditions b\n@a\n```\n"),
        "20: `conditions a` includes itself\n",
    );
    check_faults(
        "```diff rule step\n- {{step.updates}}\n```\n",
        "9: unknown part `updates` of a step; a rule can match {{step.forward}}, {{step.either}}, {{step.loss}}, {{step.backward}}, \
         {{step.update}}, {{step.clear}}, {{step.clip}}, {{step.norm}}, {{step.schedule}}, {{step.evaluate}}, {{step.given}}, \
         {{step.scaled}}, {{step.scaler}}, {{step.save}}, {{step.make}}, {{step.start}}\n",
    );
    check_faults(
        "```diff rule step\n- {{step.scaler}}\n```\n",
        "8: this part requires code that ports the step, but the section has no rule with `rule=compile-training-step` or \
         `rule=compile-and-run`\n",
    );
    check_faults(
        "```diff rule\n- {{step.update}}\n```\n",
        "9: parts of the step can only be used in a `diff rule step`\n",
    );
}

const STEP: &str = "import torch\n\nnet = torch.nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\n\n\
    def train(loader, criterion):\n    for image, label in loader:\n        opt.zero_grad()\n        \
    loss = criterion(net(image), label)\n        loss.backward()\n        opt.step()\n";

const STEP_RULES: &str = "```diff rule step\n- {{step.update}}\n+ run.update({{step.model}})\n```\n\
    ```where\nnot file contains run.update($_)\n```\n\
    ```diff rule stops=step\n  $_.item()\n```\n\
    ```diff rule says=printed stops=step\n  print($X)\n```\n\
    ```message printed\n{{X}} is printed\n```\n";

/// The text, followed by the messages with their lines; those that stop the step have a star.
#[track_caller]
fn check_port(script: &str, expected: &str) {
    let recipes = RecipeSet::compile(&[page(STEP_RULES)]).unwrap_or_else(|faults| panic!("{faults:?}"));
    let files = [SourceFile { path: "a.py".to_owned(), text: script.to_owned() }];
    let ported = port(&files, &recipes, &Options { target: "t".to_owned(), ..Options::default() });
    let file = &ported.files[0];
    let changed = if file.changed { "changed\n" } else { "" };
    let reports = file.diagnostics.iter().filter(|report| report.recipe == "t#a");
    let star = |stops: bool| if stops { "*" } else { "" };
    let told: String = reports.map(|r| format!("{}{}: {}\n", r.original.line, star(r.stops_step), r.message)).collect();
    assert_eq!(format!("{changed}{told}"), expected, "{}", file.text);
}

#[test]
fn a_step_is_ported_or_all_that_is_in_its_way_is_told() {
    check_port(STEP, "changed\n");
    check_port(&format!("{STEP}\n\nprint(net)\n"), "changed\n15: net is printed\n");
    let logged = "        loss.backward()\n        print(loss.item())\n        total += loss.item()\n";
    check_port(
        &STEP.replace("        loss.backward()\n", logged),
        "12*: loss.item() is printed\n12*: A. Why.\n13*: A. Why.\n",
    );
    let twice = format!("        loss.backward(retain_graph=True)\n{logged}");
    check_port(
        &STEP.replace("        loss.backward()\n", &twice),
        "7*: Not ported: the step calls `backward()` more than once. Sum the losses, or keep one branch of the test, then port \
         again.\n13*: loss.item() is printed\n13*: A. Why.\n14*: A. Why.\n",
    );
}

/// A script before and after its port by one rule.
#[track_caller]
fn check_rule(rule: &str, before: &str, after: &str) {
    let recipes = RecipeSet::compile(&[page(&format!("```diff rule\n{rule}```\n"))])
        .unwrap_or_else(|faults| panic!("{faults:?}"));
    let files = [SourceFile { path: "a.py".to_owned(), text: before.to_owned() }];
    let ported = port(&files, &recipes, &Options { target: "t".to_owned(), ..Options::default() });
    assert_eq!(ported.files[0].text, after);
}

#[test]
fn a_statement_is_found_anywhere_in_a_body() {
    let rule = "  def setup():\n-     old()\n+     new()\n";
    for above in ["", "    a()\n", "    a()\n    b()\n    c()\n"] {
        let script = |name: &str| format!("def setup():\n{above}    {name}()\n    d()\n");
        check_rule(rule, &script("old"), &script("new"));
    }
    check_rule(rule, "def other():\n    old()\n", "def other():\n    old()\n");
}

#[test]
fn each_clause_of_a_patch_needs_one_of_its_own() {
    let rule = "  if $A:\n      $$$X\n  elif $B:\n-     old()\n+     new()\n  elif $C:\n      old()\n";
    let script = |clauses: &str| format!("if a:\n    pass\n{clauses}");
    check_rule(rule, &script("elif b:\n    old()\n"), &script("elif b:\n    old()\n"));
    check_rule(
        rule,
        &script("elif b:\n    old()\nelif c:\n    old()\n"),
        &script("elif b:\n    new()\nelif c:\n    old()\n"),
    );
}

#[test]
fn what_stands_above_in_the_block_is_a_part_of_the_match() {
    // Each call is a place where a match may start; an import is not.
    for first in ["a()", "import a"] {
        check_rule("- $$$ABOVE\n- old()\n+ new()\n", &format!("{first}\nb()\nold()\nc()\n"), "new()\nc()\n");
    }
}

#[test]
fn the_arms_of_a_conditional_expression_may_be_the_other_way_round() {
    let rule = "- torch.device(\"cuda\" if $TEST else \"cpu\")\n+ torch.device(\"hpu\" if $TEST else \"cpu\")\n";
    let script = |expression: &str| format!("import torch\na = torch.device({expression})\n");
    check_rule(rule, &script("\"cuda\" if t() else \"cpu\""), &script("\"hpu\" if t() else \"cpu\""));
    check_rule(rule, &script("\"cpu\" if not t() else \"cuda\""), &script("\"hpu\" if t() else \"cpu\""));
    check_rule(rule, &script("\"cpu\" if t() else \"cuda\""), &script("\"cpu\" if t() else \"cuda\""));
}

#[test]
fn a_rule_whose_result_is_no_python_changes_nothing() {
    let rule = "- stop()\n+ return\n";
    check_rule(rule, "def f():\n    stop()\n", "def f():\n    return\n");
    check_rule(rule, "if a:\n    stop()\n", "if a:\n    stop()\n");
}

#[test]
fn rules_that_do_not_come_to_an_end_cost_only_their_own_place() {
    let check = |rules: &str| {
        let recipes = RecipeSet::compile(&[page(&format!("{rules}```diff rule\n- h($X)\n+ k($X)\n```\n"))]);
        let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let files = [file("a.py", "f(1)\nh(2)\n"), file("b.py", "h(3)\n")];
        let options = Options { target: "t".to_owned(), ..Options::default() };
        let ported = port(&files, &recipes.expect("rules"), &options);
        let texts: Vec<&str> = ported.files.iter().map(|file| &*file.text).collect();
        assert_eq!(texts, ["f(1)\nk(2)\n", "k(3)\n"], "{rules}");
        assert!(!ported.certificate.idempotent);
        let said: Vec<_> = ported.files[0].diagnostics.iter().map(|said| (said.original.line, said.severity)).collect();
        assert_eq!(said, [(1, Severity::Warning)], "{rules}");
    };
    check("```diff rule\n- f($X)\n+ g($X)\n```\n```diff rule\n- g($X)\n+ f($X)\n```\n");
    check("```diff rule\n- f($$$X)\n+ f(0, $$$X)\n```\n");
}
