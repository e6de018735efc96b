use crate::check::state::names::CLASS_NAMES;
use crate::check::state::picture::Layer;
use crate::check::work::Session;
use leptos::prelude::*;

/// The colours of the current layer.
#[component]
pub(super) fn Legend() -> impl IntoView {
    let session: Session = expect_context();
    let what = Memo::new(move |_| session.planes.with(|planes| (planes.layer, planes.brightest, planes.largest)));
    let swatch = |name: &'static str| view! { <span class=format!("swatch {name}")></span> };
    let show = move || match what.get() {
        (Layer::Input, brightest, _) => view! {
            <span class="ramp charge"></span>
            {format!(" charge from 0 to {brightest:.1}, log scale")}
        }
        .into_any(),
        (Layer::Difference, _, largest) if largest > 0.0 => view! {
            <span class="ramp difference"></span>
            {format!(" max difference of a pixel’s logits from {:.0e} to {largest:.1e}, log scale; ", largest * 1e-6)}
            {swatch("nothing")}
            " not a number"
        }
        .into_any(),
        (Layer::Difference, ..) => view! { "no difference; " {swatch("nothing")} " not a number" }.into_any(),
        _ => CLASS_NAMES.map(|name| view! { {swatch(name)} " " {name} " " }).collect_view().into_any(),
    };
    view! { <div id="legend">{show}</div> }
}
