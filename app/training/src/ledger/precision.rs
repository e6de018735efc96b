//! The types that a training step computes in.

use super::Figure;
use crate::view::FileView;
use guide::LedgerTerms;
use python::tree::kinds;

/// What a file, or the files of one side, say of their types.
#[derive(Default)]
pub struct Precision {
    /// Each `autocast` that is on: as it is written, what it means, and where it stands.
    autocasts: Vec<(String, Figure, usize)>,
    /// A cast of the weights or of inputs.
    cast: Option<Figure>,
    /// Each scaler of the loss that is on, as it is written.
    scalers: Vec<String>,
    /// Its step is compiled, and goes by its weights.
    compiles: bool,
}

impl Precision {
    /// Reads what a file says.
    pub fn read(&mut self, view: &FileView<'_>, terms: &LedgerTerms) {
        let index = &view.index;
        self.compiles |= terms.compiler.as_deref().is_some_and(|module| view.names.imports(module));
        for (method, name) in [("bfloat16", "bfloat16"), ("half", "float16")] {
            if let (None, Some(call)) = (&self.cast, view.calls(method).first()) {
                self.cast = Some(Figure::at(view, *call, name));
            }
        }
        if !view.has_word("autocast") {
            return;
        }
        for &call in index.of_kind(kinds().call) {
            let Some(name) = view.qualified(call) else { continue };
            // `torch.cuda.amp.autocast(enabled, dtype)`, `torch.autocast(device, dtype, enabled)`
            let older = ["torch.cuda.", "torch.cpu."].iter().any(|module| name.starts_with(module));
            let arguments = index.arguments(call);
            let given = |word: &str, place: Option<usize>| {
                let value = place.map_or_else(|| arguments.keyword(word), |place| arguments.get(place, word));
                value.map(|value| index.text_of(value))
            };
            let enabled = given("enabled", name.ends_with(".autocast").then_some(if older { 0 } else { 2 }));
            if !name.starts_with("torch.") || enabled == Some("False") {
                continue;
            }
            if name.ends_with(".GradScaler") {
                self.scalers.push(index.text_of(call).to_owned());
            }
            if name.ends_with(".autocast") {
                let text = index.text_of(call);
                let of_type = match given("dtype", Some(1)).and_then(|d| d.rsplit('.').next()) {
                    Some(dtype) => dtype,
                    None if text.contains("cpu") => "bfloat16",
                    None => terms
                        .autocast
                        .as_ref()
                        .filter(|own| text.contains(&own.device))
                        .map_or("float16", |own| &own.dtype),
                };
                let test = enabled.filter(|e| *e != "True").map_or(String::new(), |e| format!(" if {e}"));
                let meaning = Figure::at(view, call, &format!("autocast to {of_type}{test}"));
                self.autocasts.push((text.to_owned(), meaning, index.item(call).start));
            }
        }
    }

    /// What the original computes in, and where that begins; none is float32.
    pub fn before(&self) -> Option<(Figure, usize)> {
        let (_, figure, at) = self.autocasts.first()?;
        Some((with_scaler(figure, !self.scalers.is_empty()), *at))
    }

    /// What a port computes in on its target: by an `autocast` that the original does not have, when there is one.
    pub fn after(&self, original: &Self) -> Option<Figure> {
        if self.compiles {
            return self.cast.clone();
        }
        let new = self.autocasts.iter().find(|(text, ..)| original.autocasts.iter().all(|(old, ..)| old != text));
        // What is left of the original's scaler belongs to its other modes.
        let scales = self.scalers.iter().any(|scaler| !original.scalers.contains(scaler));
        new.map(|(_, figure, _)| with_scaler(figure, scales))
            .or_else(|| Some(self.before()?.0))
            .or_else(|| self.cast.clone())
    }

    /// The same of the original, where no `autocast` stands.
    pub fn cast(&self) -> Option<Figure> {
        self.cast.clone()
    }
}

fn with_scaler(autocast: &Figure, scales: bool) -> Figure {
    let scaled = if scales { ", scaled loss" } else { "" };
    Figure { text: format!("{}{scaled}", autocast.text), ..autocast.clone() }
}

/// That a step computes in something else.
pub fn changed(old: &str, new: &str) -> String {
    let decides = old.split_once(" if ").filter(|_| !new.contains(" if "));
    let unused = decides.map_or(String::new(), |(_, test)| {
        format!(", and `{}` decides nothing any more", test.split(',').next().unwrap_or(test))
    });
    format!("The step computes in {new} in place of {old}{unused}")
}
