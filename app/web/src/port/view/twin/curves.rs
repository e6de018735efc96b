//! The two loss curves, and the values of one step.

use crate::port::state::twin::{Curves, Points, shown};
use crate::port::twin_result::{Number, Step};
use leptos::prelude::*;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
/// Space for the numbers next to the plot.
const LEFT: f64 = 92.0;
const MARGIN: f64 = 18.0;
/// Space for the step numbers below it.
const BELOW: f64 = 32.0;

fn across(x: f64) -> f64 {
    LEFT + x * (WIDTH - LEFT - MARGIN)
}

fn up(y: f64) -> f64 {
    HEIGHT - BELOW - y * (HEIGHT - BELOW - MARGIN)
}

/// Both curves, with the original's drawn wider below the port's, and a slider that shows the values of a step.
#[component]
pub(super) fn Chart(curves: Curves, steps: Vec<Step>) -> impl IntoView {
    let last = curves.steps;
    let step = RwSignal::new(last);
    let said = Memo::new(move |_| said(&steps, step.get()));
    let at = move || across(if last > 1 { (step.get() - 1) as f64 / (last - 1) as f64 } else { 0.5 });
    let (low, high) = curves.range;
    let low_shown = shown(Number(low));
    let heights = if high > low { vec![(0.0, low), (1.0, high)] } else { vec![(0.0, low)] };
    let label = format!(
        "The loss of {last} steps, in the original and in the port, between {low_shown} and {}",
        shown(Number(high))
    );
    view! {
        <figure class="curves">
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=label id="twin-curves">
                {heights.into_iter().map(level).collect_view()}
                <text x=across(0.0) y=HEIGHT - 8.0>"step 1"</text>
                <text x=across(1.0) y=HEIGHT - 8.0 text-anchor="end">{format!("step {last}")}</text>
                <line class="now" x1=at x2=at y1=up(0.0) y2=up(1.0)></line>
                <polyline class="original" points=points(&curves.original)></polyline>
                <polyline class="port" points=points(&curves.port)></polyline>
            </svg>
            <figcaption>
                <span class="original">"Original"</span>
                <span class="port">"Port"</span>
                <label>
                    "Step "
                    <input
                        type="range"
                        id="twin-step"
                        min="1"
                        max=last
                        prop:value=last
                        on:input=move |event| step.set(event_target_value(&event).parse().unwrap_or(last).clamp(1, last))
                    />
                </label>
                <output for="twin-step" id="twin-values">{said}</output>
            </figcaption>
        </figure>
    }
}

/// A horizontal grid line with its loss.
fn level((height, loss): (f64, f64)) -> impl IntoView {
    let label = if loss != 0.0 && !(0.001..10_000.0).contains(&loss.abs()) {
        format!("{loss:.1e}")
    } else {
        format!("{loss:.4}")
    };
    view! {
        <line x1=across(0.0) x2=across(1.0) y1=up(height) y2=up(height)></line>
        <text x=LEFT - 6.0 y=up(height) + 4.0 text-anchor="end">{label}</text>
    }
}

fn points(points: &Points) -> String {
    points.iter().map(|(x, y)| format!("{:.1},{:.1}", across(*x), up(*y))).collect::<Vec<_>>().join(" ")
}

fn said(steps: &[Step], step: usize) -> String {
    let Some(Step { loss: [original, port], .. }) = steps.get(step - 1) else { return String::new() };
    format!("Step {step}: {} in the original, {} in the port", shown(*original), shown(*port))
}
