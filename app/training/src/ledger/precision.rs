//! The types that a training step computes in.

use super::Reading;
use super::words::{self, Words};
use crate::figure::place_of;
use crate::project::has_part;
use crate::view::FileView;
use guide::LedgerTerms;
use python::strings::plain_string;
use python::tree::{Id, kinds};

/// What the files of one side specify about their types.
#[derive(Default)]
pub struct Precision {
    /// Each enabled `autocast`.
    autocasts: Vec<Autocast>,
    /// A cast of the weights or of inputs.
    cast: Option<Types>,
    /// Each enabled scaler of the loss, as it is written.
    scalers: Vec<String>,
    /// The step is compiled, and its type is that of the weights.
    compiles: bool,
    /// The target's device.
    device: Option<String>,
}

struct Autocast {
    /// As it is written.
    text: String,
    /// Where it begins, in bytes.
    start: usize,
    types: Types,
    /// It casts for a device other than the target, and so has no effect there.
    elsewhere: bool,
}

/// The types of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Types {
    /// The last part of the type's name, `bfloat16`, or the expression that returns it.
    dtype: String,
    /// By `autocast`; otherwise by a cast of weights or inputs.
    by_autocast: bool,
    /// The expression that decides whether the autocast is enabled, as it is written.
    test: Option<String>,
    /// The loss is scaled.
    scaled: bool,
    place: Option<(String, usize)>,
}

impl Default for Types {
    /// PyTorch's default.
    fn default() -> Self {
        Self { dtype: "float32".to_owned(), by_autocast: false, test: None, scaled: false, place: None }
    }
}

impl Types {
    /// The same as text.
    fn words(&self) -> Words {
        let dtype = self.dtype.as_str();
        let types = match (&self.test, self.by_autocast) {
            (_, false) => return dtype.into(),
            (None, true) => words::autocast_to(dtype),
            (Some(test), true) => words::autocast_under_test(dtype, test.as_str()),
        };
        if self.scaled { words::autocast_with_scaler(types) } else { types }
    }

    /// The same as text, with its location.
    pub(super) fn reading(&self) -> Reading {
        Reading { words: self.words(), place: self.place.clone() }
    }

    /// Whether both mean the same computation.
    #[must_use]
    pub fn alike(&self, other: &Self) -> bool {
        self.words().alike(&other.words())
    }
}

impl Precision {
    /// Reads a file. On the target a device that is not a literal is the target's, in the original it is CUDA's.
    pub fn read(&mut self, view: &FileView<'_>, terms: &LedgerTerms, original: bool) {
        let index = &view.index;
        self.compiles |= terms.compiler.as_deref().is_some_and(|module| view.names.imports(module));
        for (method, name) in [("bfloat16", "bfloat16"), ("half", "float16")] {
            if let (None, Some(call)) = (&self.cast, view.calls(method).first()) {
                let place = Some(place_of(view, *call));
                self.cast = Some(Types { dtype: name.to_owned(), place, ..Types::default() });
            }
        }
        self.device = terms.autocast.as_ref().map(|own| own.device.clone());
        if !view.has_word("autocast") && !view.has_word("GradScaler") {
            return;
        }
        for &call in index.of_kind(kinds().call) {
            let Some(name) = view.qualified(call).filter(|name| name.starts_with("torch.")) else { continue };
            let is_off_here = || terms.autocast.as_ref().is_some_and(|own| is_off_on(view, call, &own.device));
            if name.ends_with(".GradScaler") && !is_off(view, call, None) && !is_off_here() {
                self.scalers.push(index.text_of(call).to_owned());
            }
            if name.ends_with(".autocast")
                && let Some((types, device)) = autocast(view, call, &name, terms, original)
            {
                let (text, start) = (index.text_of(call).to_owned(), index.item(call).start);
                let elsewhere =
                    device == Some("cuda") && terms.autocast.as_ref().is_some_and(|own| own.device != "cuda");
                self.autocasts.push(Autocast { text, start, types, elsewhere });
            }
        }
    }

    /// The types of the original; float32 by default.
    #[must_use]
    pub fn before(&self) -> Option<Types> {
        self.first().map(|(types, _)| types).or_else(|| self.cast.clone())
    }

    /// The types of the first `autocast`, and where it begins, in bytes.
    #[must_use]
    pub fn first(&self) -> Option<(Types, usize)> {
        let first = self.autocasts.first()?;
        Some((Types { scaled: !self.scalers.is_empty(), ..first.types.clone() }, first.start))
    }

    /// The types of a port on its target: those of an `autocast` that the original does not have, if there is one.
    #[must_use]
    pub fn after(&self, original: &Self) -> Option<Types> {
        if self.compiles {
            return self.cast.clone();
        }
        let is_new = |own: &&Autocast| original.autocasts.iter().all(|old| old.text != own.text);
        // Remaining parts of the original's scaler belong to its other modes.
        let scaled = self.scalers.iter().any(|scaler| !original.scalers.contains(scaler));
        let new = self.autocasts.iter().find(is_new);
        if new.is_none() && self.autocasts.first().is_some_and(|left| left.elsewhere) {
            return self.cast.clone();
        }
        let mut types = new.map(|own| Types { scaled, ..own.types.clone() }).or_else(|| self.before())?;
        // `device.type == "cuda"` with the target's name is the same test.
        let ported = |test: &&String| self.device.as_ref().map(|own| test.replace("cuda", own)) == types.test;
        let test = original.autocasts.iter().filter_map(|old| old.types.test.as_ref()).find(ported).cloned();
        types.test = test.or(types.test);
        Some(types)
    }
}

/// Whether `enabled=False` is passed.
fn is_off(view: &FileView<'_>, call: Id, place: Option<usize>) -> bool {
    let arguments = view.index.arguments(call);
    let enabled = place.map_or_else(|| arguments.keyword("enabled"), |place| arguments.get(place, "enabled"));
    enabled.is_some_and(|enabled| view.index.text_of(enabled) == "False")
}

/// Whether what enables a call denies a device: `enabled=device.type != "hpu" and use_amp`.
fn is_off_on(view: &FileView<'_>, call: Id, device: &str) -> bool {
    let (k, index) = (kinds(), &view.index);
    let enabled = index.arguments(call).keyword("enabled");
    let parts =
        |test: Id| Some(test).filter(|test| index.operator(*test) == "and").and_then(|test| index.parts(test).next());
    let first = std::iter::successors(enabled, |test| parts(*test)).last();
    first.is_some_and(|first| {
        let denies = index.kind(first) == k.not_operator || index.operator(first) == "!=";
        denies && has_part(index.text_of(first), device)
    })
}

/// The type of a call of `autocast`, and the device that it names; none if it is disabled.
fn autocast<'v>(
    view: &'v FileView<'_>,
    call: Id,
    name: &'v str,
    terms: &LedgerTerms,
    original: bool,
) -> Option<(Types, Option<&'v str>)> {
    let index = &view.index;
    // `torch.cuda.amp.autocast(enabled, dtype)`, `torch.autocast(device, dtype, enabled)`
    let older = ["torch.cuda.", "torch.cpu."].into_iter().find(|module| name.starts_with(module));
    let place = if older.is_some() { 0 } else { 2 };
    if is_off(view, call, Some(place)) {
        return None;
    }
    let arguments = index.arguments(call);
    let test = arguments.get(place, "enabled").map(|value| index.text_of(value)).filter(|text| *text != "True");
    let given = arguments.get(1, "dtype").map(|dtype| index.text_of(dtype)).filter(|text| *text != "None");
    let device = match older {
        Some(module) => module.split('.').nth(1),
        None => arguments.get(0, "device_type").and_then(|device| plain_string(index, device)),
    };
    let own = terms.autocast.as_ref();
    let dtype = match (given, device) {
        (Some(dtype), _) if dtype.starts_with("torch.") => dtype.rsplit('.').next().unwrap_or(dtype),
        (Some(dtype), _) => dtype,
        (None, Some("cpu")) => "bfloat16",
        (None, Some(device)) => own.filter(|own| own.device == device).map_or("float16", |own| &own.dtype),
        (None, None) => own.filter(|_| !original).map_or("float16", |own| &own.dtype),
    };
    let types = Types {
        dtype: dtype.to_owned(),
        by_autocast: true,
        test: test.map(str::to_owned),
        scaled: false,
        place: Some(place_of(view, call)),
    };
    Some((types, device))
}

/// Whether the loss is no longer scaled, in a type that may be float16: a value decides.
#[must_use]
pub fn lost_scaling(old: &Types, new: &Types) -> bool {
    old.scaled && !new.scaled && new.by_autocast && !["bfloat16", "float32"].contains(&new.dtype.as_str())
}

/// The change of a step's types.
#[must_use]
pub fn changed(old: &Types, new: &Types) -> Words {
    let same = Types { scaled: old.scaled, place: old.place.clone(), ..new.clone() };
    if same == *old && old.by_autocast {
        let types = Types { scaled: false, ..new.clone() }.words();
        return match old.scaled {
            true if lost_scaling(old, new) => words::loss_scaling_removed_for(types),
            true => words::loss_scaling_removed(types),
            false => words::loss_scaling_added(types),
        };
    }
    match old.test.as_deref().filter(|_| new.test.is_none()) {
        Some(test) => words::precision_test_unused(new.words(), old.words(), test),
        None => {
            let differing = |of: &Types| Types { test: of.test.clone().filter(|_| new.test != old.test), ..of.clone() };
            words::precision_changed(differing(new).words(), differing(old).words())
        }
    }
}
