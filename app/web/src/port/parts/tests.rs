use super::*;
use crate::port::protocol::{Catalogue, FileOutcome, Outcome};
use crate::port::state::{Engine, Notice, Panel, Run, View};
use codemod::{Diagnostic, RecipeInfo, RecipeSet, Severity, SourceFile, Span, Style};
use std::sync::Arc;

/// A project that nothing was done to yet.
fn opened(text: &str) -> State {
    let mut state = State::default();
    state.engine = Engine::Ready;
    let recipes = RecipeSet::embedded();
    state.learn(Catalogue { targets: recipes.targets(), recipes: recipes.recipes() });
    state.open(vec![SourceFile { path: "a<b>.py".into(), text: text.into() }]);
    state
}

/// The same after a port that changed nothing and found these.
fn unchanged(diagnostics: Vec<Diagnostic>, residue: &[&str]) -> State {
    let mut state = opened("x = 1\n");
    let file = FileOutcome { path: "a<b>.py".into(), diagnostics, ..FileOutcome::default() };
    let files = vec![file];
    state.set_outcome(Some(Arc::new(Outcome {
        style: Style::InPlace,
        files,
        residue: residue.iter().map(|line| line.to_string()).collect(),
        ..Outcome::default()
    })));
    state.view = Some(Arc::<View>::default());
    state
}

fn message(severity: Severity) -> Diagnostic {
    let place = Span { line: 3, column: 5, end_line: 3, end_column: 6 };
    Diagnostic {
        original: place,
        ported: place,
        severity,
        recipe: "engine#x".into(),
        message: "a < b".into(),
        stops_step: false,
    }
}

#[test]
fn nothing_left_is_said_only_when_it_is_true() {
    let nothing = "no name of the source vendor was found";
    assert!(result::panel(&unchanged(vec![], &[])).contains(nothing));
    assert!(!result::panel(&unchanged(vec![], &["a<b>.py:1:1 torch.cuda"])).contains(nothing));
    assert!(!result::panel(&unchanged(vec![message(Severity::Warning)], &[])).contains(nothing));
}

#[test]
fn the_certificate_says_what_is_left_and_the_ledger_what_changes() {
    let text = "import torch\nnet = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)\nfor x, y in loader:\n    \
        loss = torch.nn.functional.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n";
    let html = |text: &str, target: &str| {
        let files = [SourceFile { path: "a<b>.py".into(), text: text.into() }];
        let options = codemod::Options { target: target.into(), ..codemod::Options::default() };
        let ported = codemod::port(&files, &RecipeSet::embedded(), &options);
        certificate::panel(
            &ported,
            &ledger::section(&codemod::ledger(&files, &ported), &ported.files),
            "a<b>.py mode=x",
        )
    };
    let calm = html(text, "hpu");
    assert!(calm.contains("No name of the source vendor") && calm.contains("means what it meant"), "{calm}");
    assert!(calm.contains("rehearse.py --target hpu -- a&lt;b&gt;.py mode=x<"), "{calm}");
    let many = html(text, "popdist");
    assert!(many.contains("4 × replicas of poprun") && many.contains("class=\"flags\""), "{many}");
    assert!(many.contains("data-do=\"go\" data-to=\"0 ") && !many.contains("<b>.py"), "{many}");
    let left = html(&text.replace("import torch\n", "import torch\nwhere = \"nccl\"\n"), "rdu");
    assert!(left.contains("Names of the source vendor are left"), "{left}");
    assert!(html("x = 1\n", "hpu").contains("No loader or no training step of this project"));
}

#[test]
fn a_failure_names_its_place() {
    let html = result::panel(&unchanged(vec![message(Severity::Error)], &[]));
    assert!(html.contains("a &lt; b") && html.contains("data-to=\"3 5\""), "{html}");
}

#[test]
fn every_state_has_its_words() {
    let mut state = State::default();
    assert!(result::panel(&state).contains("No script yet"));
    state = opened("x = 1\n");
    assert!(result::panel(&state).contains("Porting…"));
    state.run = Run::Stopped;
    assert!(result::panel(&state).contains("You cancelled"));
    state.engine = Engine::Starting;
    assert!(result::panel(&state).contains("Loading the engine"));
    state.engine = Engine::Broken("<why>".into());
    assert!(result::panel(&state).contains("&lt;why&gt;"));
}

#[test]
fn code_in_a_message_is_code() {
    let check = |before: &str, after: &str| assert_eq!(marked(before), after);
    check("`a<b>` becomes `c`", "<code>a&lt;b&gt;</code> becomes <code>c</code>");
    check("a ` alone", "a ` alone");
    check("no code", "no code");
}

#[test]
fn names_are_escaped() {
    let mut state = unchanged(vec![message(Severity::Warning)], &[]);
    state.notice = Some(Notice { bad: true, text: "<x>".into() });
    for html in [files::name(&state), needs::list(&state), bar::notice(&state)] {
        assert!(!html.contains("<b>.py") && !html.contains("<x>"), "{html}");
    }
    assert!(needs::list(&state).contains("a&lt;b&gt;.py:3"));
}

#[test]
fn controls_show_the_choice() {
    let mut state = unchanged(vec![], &[]);
    assert!(bar::targets(&state).contains("<option value=\"hpu\" selected>HPU</option>"));
    assert!(bar::styles(&state).contains("<option value=\"auto\" selected>Auto: in place</option>"));
    assert!(bar::sdks(&state).contains("(newest)"));
    state.choice.style = Style::Branch;
    assert!(bar::styles(&state).contains("<option value=\"branch\" selected>"));
    state.choice.allow_unsafe = true;
    assert!(bar::unsafe_switch(&state).contains(" checked"));
}

#[test]
fn a_recipe_that_was_turned_off_can_be_turned_on() {
    let mut state = unchanged(vec![], &[]);
    let RecipeInfo { id, .. } = state.catalogue.recipes[0].clone();
    state.switch_recipe(&id, false);
    let html = recipes::list(&state);
    assert!(html.contains("class=\"off\"") && !html.contains(" checked"), "{html}");
    state.panel = Panel::Recipes;
    assert_eq!(result::panel(&state), html);
}
