//! Information about a script: its numbers, warnings, and every line with its reason.

use crate::launch::work::Session;
use crate::shared::view::Prose;
use launch::form::Written;
use launch::{Flag, Monitor, Plan, Step, Word, directives};
use leptos::prelude::*;

/// All of it; empty while there is no script.
#[component]
pub(super) fn About() -> impl IntoView {
    let session: Session = expect_context();
    let about = move || session.result.with(|result| result.as_ref().ok().cloned()).map(of_script);
    view! {
        <div class="launch-about" id="about">
            {about}
        </div>
    }
}

fn of_script(written: Written) -> impl IntoView {
    let Written { plan, file, .. } = written;
    let monitor =
        |Monitor { command, why, .. }: &Monitor| view! { <li><code>{command.clone()}</code> " " {why.clone()}</li> };
    let line = |text: &String| view! { <li><Prose text=text.clone()/></li> };
    view! {
        <List title="Numbers" class="numbers" items=plan.arithmetic.iter().map(line).collect()/>
        <List title="Notes" items=plan.notes.iter().map(line).collect()/>
        <List title="While it runs, in a second terminal" items=plan.monitors.iter().map(monitor).collect()/>
        <h3>"Dry run"</h3>
        <p>
            <code>"DRY_RUN=1 bash " {file}</code>
            " prints the commands without running any of them."
        </p>
        <h3>"Every line explained"</h3>
        <dl class="why">{lines(&plan)}</dl>
    }
}

/// A titled list; omitted if it is empty.
#[component]
fn List<T: IntoView + 'static>(
    title: &'static str,
    items: Vec<T>,
    #[prop(optional)] class: &'static str,
) -> impl IntoView {
    (!items.is_empty()).then(|| view! { <h3>{title}</h3> <ul class=class>{items.into_iter().collect_view()}</ul> })
}

fn lines(plan: &Plan) -> Vec<AnyView> {
    let words = |words: &[Word]| words.iter().map(Word::quoted).collect::<Vec<_>>().join(" ");
    let row = |what: String, why: &str, source: &str, flags: &[Flag]| {
        view! { <Line what why=why.to_owned() source=source.to_owned() flags=flags.to_vec()/> }.into_any()
    };
    let head = launch::mark(plan.scheduler).map(|(mark, source)| {
        row(mark.to_owned(), "The resources the job requests.", source, &directives(&plan.resources, plan.scheduler))
    });
    let step = |step: &Step| match step {
        Step::Source { files, why, source, .. } => {
            let files: Vec<String> = files.iter().map(|file| format!(". {}", file.quoted())).collect();
            row(files.join("\n"), why, source, &[])
        }
        Step::Require { name, message } => row(format!("${{{name}}} must be set"), message, "", &[]),
        Step::Set(setting) => {
            row(format!("{}={}", setting.name, setting.value.quoted()), &setting.why, &setting.source, &[])
        }
        Step::Run { argv, flags, why, source } => row(words(argv), why, source, flags),
        Step::Take { file, why, source, .. } => row(file.quoted(), why, source, &[]),
        Step::Keep { argv, why, source, .. } => row(words(argv), why, source, &[]),
    };
    head.into_iter().chain(plan.steps.iter().map(step)).collect()
}

/// A line of the script, its reason, and where that is documented; the same for each of its flags.
#[component]
fn Line(what: String, why: String, source: String, flags: Vec<Flag>) -> impl IntoView {
    let flag = |Flag { words, why, source }: Flag| {
        view! { <li><code>{words}</code> " " {why} " " <Prose text=source/></li> }
    };
    let flags = (!flags.is_empty()).then(|| view! { <ul>{flags.into_iter().map(flag).collect_view()}</ul> });
    view! {
        <dt>
            <code>{what}</code>
        </dt>
        <dd>{why} " " <Prose text=source/> {flags}</dd>
    }
}
