//! The page's data, in one struct. It has no elements and events; what a control does is a method.

pub mod about;
pub mod choice;
mod image_size;
pub mod names;
pub mod picture;
pub mod planes;
pub mod report;

use crate::check::protocol::{Facts, LARGEST, Part};
use crate::shared::text::thousands;
use about::About;
use choice::{Choice, FIELDS, Fault};
use names::size;
use std::collections::BTreeMap;
use uresnet::Report;

/// Everything except the planes, which change with the pointer and are large.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The form's values.
    pub choice: Choice,
    /// Invalid input, by key: the text, and its problem.
    refused: BTreeMap<&'static str, (String, String)>,
    /// Problems reported by the worker or caused by a file, by location.
    faults: BTreeMap<Place, String>,
    /// Parts of the link that could not be applied.
    pub notice: String,
    /// The outcome of the user's last action.
    pub said: String,
    /// The chosen files.
    files: BTreeMap<Slot, Chosen>,
    /// The image size in the chosen file with the event, if it has one.
    image_size: Option<(usize, usize)>,
    /// Whether the user entered the form's image size for the event in a file.
    own_size: bool,
    /// The worker's current task.
    pub busy: Option<Busy>,
    /// The last run.
    pub results: Option<Results>,
    /// The last comparison.
    pub comparison: Option<Comparison>,
    /// The number of threads for a run.
    pub threads: Threads,
    /// Whether the bundle includes the weights.
    pub with_weights: bool,
}

/// The purpose of a chosen file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// The network's weights.
    Weights,
    /// The event.
    Input,
    /// Another run's outputs.
    Candidate,
}

impl Slot {
    /// A name for ids.
    pub fn word(self) -> &'static str {
        match self {
            Slot::Weights => "weights",
            Slot::Input => "input",
            Slot::Candidate => "candidate",
        }
    }
}

/// The location of a problem that is not an invalid value of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The configuration as a whole.
    Config,
    /// The image size.
    Size,
    /// A file.
    File(Slot),
    /// The run.
    Run,
}

impl Place {
    /// The id of the control.
    pub fn control(self) -> String {
        match self {
            Place::Config => "f-preset".to_owned(),
            Place::Size => "f-height".to_owned(),
            Place::File(slot) => format!("file-{}", slot.word()),
            Place::Run => "run".to_owned(),
        }
    }
}

impl From<Part> for Place {
    fn from(part: Part) -> Place {
        match part {
            Part::Config => Place::Config,
            Part::Size => Place::Size,
            Part::Weights => Place::File(Slot::Weights),
            Part::Input => Place::File(Slot::Input),
            Part::Candidate => Place::File(Slot::Candidate),
            Part::Run => Place::Run,
        }
    }
}

/// A chosen file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The worker's current task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Busy {
    /// Its name.
    pub line: String,
    /// The fraction of the work that is done, from 0 to 1.
    pub share: f64,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// What ran.
    pub about: About,
    /// Its results.
    pub facts: Facts,
}

/// A comparison with another run.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The result.
    pub report: Report,
    /// The other run's file.
    pub name: String,
    /// The precision that the other run's numbers appear to have, if it is not the selected one: an index into
    /// [`choice::PRECISIONS`].
    pub suggested: Option<usize>,
}

/// The number of threads for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// The number that the machine can run at once.
    pub most: usize,
    /// The maximum.
    pub offered: usize,
    /// The selected number.
    pub chosen: usize,
    /// Whether reloading the page would allow more.
    pub after_reload: bool,
}

/// The problem of a control: a message, and a size that would be valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The problem; empty if there is none.
    pub problem: String,
    /// A valid height and width in pixels.
    pub next_size: Option<(usize, usize)>,
}

impl State {
    /// The page for an address.
    pub fn at(fragment: &str) -> State {
        let mut state = State { with_weights: true, ..State::default() };
        state.open(fragment);
        state
    }

    /// Reads the form from an address.
    pub fn open(&mut self, fragment: &str) {
        let (choice, faults) = Choice::from_fragment(fragment);
        self.choice = choice;
        self.own_size = self.choice.has_input_file() && self.choice.size != Choice::default().size;
        self.refused.clear();
        let lacking = self.lacking();
        self.notice = match (faults.is_empty(), lacking.is_empty()) {
            (false, _) => format!("The link contains values that this page does not recognize: {}", faults.join("; ")),
            (true, true) => String::new(),
            (true, false) => format!(
                "Choose {} below. Files are not stored, so they have to be chosen again after a reload or when the page is \
                 opened by a link.",
                lacking.join(" and ")
            ),
        };
    }

    /// The files that the form names but the user has not chosen.
    fn lacking(&self) -> Vec<&'static str> {
        let wanted = [
            ("the file with the weights", self.choice.has_weight_file(), Slot::Weights),
            ("the file with the event", self.choice.has_input_file(), Slot::Input),
        ];
        wanted
            .into_iter()
            .filter(|(_, wanted, slot)| *wanted && !self.files.contains_key(slot))
            .map(|(name, ..)| name)
            .collect()
    }

    /// The form as a fragment, including `#`.
    pub fn fragment(&self) -> String {
        format!("#{}", self.choice.fragment())
    }

    /// Sets the value of a control.
    pub fn choose(&mut self, key: &'static str, value: &str) {
        match self.choice.choose(key, value) {
            Ok(()) => drop(self.refused.remove(key)),
            Err(problem) => drop(self.refused.insert(key, (value.to_owned(), problem))),
        }
        if matches!(key, "height" | "width") {
            self.size_was_entered();
        }
        if key == "preset" {
            FIELDS.iter().for_each(|field| drop(self.refused.remove(field)));
        }
    }

    /// The text of a control; invalid input stays there to be corrected.
    pub fn value(&self, key: &str) -> String {
        let refused = self.refused.get(key).map(|(text, _)| text.clone());
        refused.or_else(|| self.choice.get(key)).unwrap_or_default()
    }

    /// The problem of a control.
    pub fn said_of(&self, key: &str) -> Said {
        if let Some((_, problem)) = self.refused.get(key) {
            return Said { problem: problem.clone(), next_size: None };
        }
        if let Some(Fault { problem, next_size, .. }) = self.choice_faults().into_iter().find(|fault| fault.key == key)
        {
            return Said { problem, next_size };
        }
        let place = match key {
            "preset" => Place::Config,
            "height" => Place::Size,
            _ => return Said::default(),
        };
        Said { problem: self.fault(place), next_size: None }
    }

    /// Whether one of the configuration's fields has a problem.
    pub fn fields_are_wrong(&self) -> bool {
        let wrong = |key: &&str| !self.said_of(key).problem.is_empty();
        FIELDS.iter().any(wrong)
    }

    /// The problem at a location.
    pub fn fault(&self, place: Place) -> String {
        self.faults.get(&place).cloned().unwrap_or_default()
    }

    /// Sets the problem at a location.
    pub fn set_fault(&mut self, place: Place, problem: impl Into<String>) {
        self.faults.insert(place, problem.into());
    }

    /// Removes the problem at a location.
    pub fn clear_fault(&mut self, place: Place) {
        self.faults.remove(&place);
    }

    /// The chosen file.
    pub fn file(&self, slot: Slot) -> Option<&Chosen> {
        self.files.get(&slot)
    }

    /// Stores a file that the user chose. Returns false if it is too large.
    pub fn choose_file(&mut self, slot: Slot, file: Chosen) -> bool {
        if file.bytes > LARGEST {
            let why = match slot {
                Slot::Candidate => {
                    "the limit here is 1 GiB. Write fewer modules’ outputs, or use portolan forward --compare"
                }
                _ => "weights and events of this network are smaller than 1 GiB",
            };
            let problem = format!("{} has {}; {why}.", file.name, size(file.bytes));
            self.set_fault(Place::File(slot), problem);
            return false;
        }
        self.clear_fault(Place::File(slot));
        let replaced = self.files.insert(slot, file).is_some();
        self.notice.clear();
        match slot {
            Slot::Weights => self.choose("weights", "file"),
            Slot::Input => {
                self.choose("input", "file");
                self.input_was_chosen(replaced);
            }
            Slot::Candidate => {}
        }
        true
    }

    /// Checks whether the form can be run; the error is the id of the control to correct.
    pub fn check(&mut self) -> Result<(), String> {
        let slots = [(Slot::Weights, self.choice.has_weight_file()), (Slot::Input, self.choice.has_input_file())];
        self.faults.clear();
        let missing = slots.into_iter().filter(|(slot, wanted)| *wanted && self.file(*slot).is_none());
        let missing: Vec<Place> = missing.map(|(slot, _)| Place::File(slot)).collect();
        for place in &missing {
            self.set_fault(*place, "Choose a file first, or drop one here.");
        }
        if let Some(first) = missing.first() {
            return Err(first.control());
        }
        let wrong = self.refused.keys().copied().chain(self.choice_faults().into_iter().map(|fault| fault.key)).next();
        wrong.map_or(Ok(()), |key| Err(format!("f-{key}")))
    }

    /// A description of the run that is requested; `when` is a time.
    pub fn about(&self, when: &str) -> About {
        let name = |slot| self.file(slot).map(|file| file.name.as_str());
        About::new(&self.choice, name(Slot::Weights), name(Slot::Input), when)
    }

    /// Stores a finished run.
    pub fn set_results(&mut self, results: Results) {
        self.results = Some(results);
        self.comparison = None;
    }

    /// The properties of the network.
    pub fn parameters(&self) -> String {
        self.choice.parameters().map_or(String::new(), |count| format!("{} parameters", thousands(count as u64)))
    }

    /// The size in bytes of the reference without modules' outputs, if there is a run.
    pub fn bundle_bytes(&self) -> Option<u64> {
        let facts = &self.results.as_ref()?.facts;
        let logits: usize = facts.shape.iter().product();
        // Image and labels have one number per pixel, the logits one for each class.
        let maps = logits + 2 * logits / uresnet::CLASSES;
        let weights = if self.with_weights { facts.parameters } else { 0 };
        Some(4 * (maps + weights) as u64)
    }
}

#[cfg(test)]
mod tests;
