//! The types that a training step computes in.

use super::Figure;
use super::side::{figure_as, keyword};
use crate::facts::FileView;
use crate::tree::{fields, kinds};

/// What a file, or the files of one side, say of their types.
#[derive(Default)]
pub(crate) struct Precision {
    /// Each `autocast` that is on: as it is written, what it means, and where it stands.
    autocasts: Vec<(String, Figure, usize)>,
    /// A cast of the weights or of inputs.
    cast: Option<Figure>,
    scales: bool,
    /// Its step is compiled, and goes by its weights.
    compiles: bool,
}

impl Precision {
    pub(crate) fn read(&mut self, view: &FileView<'_>) {
        let index = &view.index;
        self.compiles |= ["poptorch", "sambaflow"].iter().any(|module| view.names.imports(module));
        for (method, name) in [("bfloat16", "bfloat16"), ("half", "float16")] {
            if let (None, Some(call)) = (&self.cast, view.calls(method).first()) {
                self.cast = Some(figure_as(view, *call, name));
            }
        }
        if !view.has_word("autocast") {
            return;
        }
        for &call in index.of_kind(kinds().call) {
            let function = index.field(call, fields().function);
            let Some(name) = function.and_then(|f| view.names.qualify(index, f)) else { continue };
            // `torch.cuda.amp.autocast(enabled, dtype)`, `torch.autocast(device, dtype, enabled)`
            let older = ["torch.cuda.", "torch.cpu."].iter().any(|module| name.starts_with(module));
            let by_place = |n: usize| {
                let arguments = index.parts(index.field(call, fields().arguments)?);
                arguments.filter(|a| index.kind(*a) != kinds().keyword_argument).nth(n)
            };
            let given = |word: &str, place: Option<usize>| {
                let value = keyword(view, call, word).or_else(|| by_place(place?));
                value.map(|value| index.text_of(value))
            };
            let enabled = given("enabled", name.ends_with(".autocast").then_some(if older { 0 } else { 2 }));
            if !name.starts_with("torch.") || enabled == Some("False") {
                continue;
            }
            self.scales |= name.ends_with(".GradScaler");
            if name.ends_with(".autocast") {
                let text = index.text_of(call);
                let of_type = match given("dtype", Some(1)).and_then(|d| d.rsplit('.').next()) {
                    Some(dtype) => dtype,
                    None if text.contains("cpu") || text.contains("hpu") => "bfloat16",
                    None => "float16",
                };
                let test = enabled.filter(|e| *e != "True").map_or(String::new(), |e| format!(" if {e}"));
                let meaning = figure_as(view, call, &format!("autocast to {of_type}{test}"));
                self.autocasts.push((text.to_owned(), meaning, index.item(call).start));
            }
        }
    }

    /// What the original computes in, and where that begins; none is float32.
    pub(crate) fn before(&self) -> Option<(Figure, usize)> {
        let (_, figure, at) = self.autocasts.first()?;
        let scaled = if self.scales { ", scaled loss" } else { "" };
        Some((Figure { text: format!("{}{scaled}", figure.text), ..figure.clone() }, *at))
    }

    /// What a port computes in on its target: by an `autocast` that the original does not have, when there is one.
    pub(crate) fn after(&self, original: &Self) -> Option<Figure> {
        if self.compiles {
            return self.cast.clone();
        }
        let new = self.autocasts.iter().find(|(text, ..)| original.autocasts.iter().all(|(old, ..)| old != text));
        new.map(|(_, figure, _)| figure.clone()).or_else(|| Some(self.before()?.0)).or_else(|| self.cast.clone())
    }

    /// The same of the original, where no `autocast` stands.
    pub(crate) fn cast(&self) -> Option<Figure> {
        self.cast.clone()
    }
}

/// That a step computes in something else.
pub(crate) fn changed(old: &str, new: &str) -> String {
    let decides = old.split_once(" if ").filter(|_| !new.contains(" if "));
    let unused = decides.map_or(String::new(), |(_, test)| {
        format!(", and `{}` decides nothing any more", test.split(',').next().unwrap_or(test))
    });
    format!("The step computes in {new} in place of {old}{unused}")
}
