//! What the page knows, in one struct. No element and no event in here: what a control does is a method.

pub mod about;
pub mod choice;
pub mod names;
pub mod picture;
pub mod planes;
pub mod report;

use crate::check::protocol::{Facts, LARGEST, Part};
use crate::shared::text::thousands;
use about::Row;
use choice::{Choice, FIELDS, Fault};
use names::size;
use std::collections::BTreeMap;
use uresnet::Report;

/// Everything but the planes, which follow the pointer and are many numbers.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What the form holds.
    pub choice: Choice,
    /// What was typed that is no value, by key: the text, and what is wrong with it.
    refused: BTreeMap<&'static str, (String, String)>,
    /// What the worker or a file is at fault with, by place.
    faults: BTreeMap<Place, String>,
    /// What the link said that can't be had.
    pub notice: String,
    /// What happened to the last thing the user asked for.
    pub said: String,
    /// The files that are chosen.
    files: BTreeMap<Slot, Chosen>,
    /// What goes on in the worker.
    pub busy: Option<Busy>,
    /// The last run.
    pub results: Option<Results>,
    /// The last comparison.
    pub comparison: Option<Comparison>,
    /// How many threads a run takes.
    pub threads: Threads,
    /// The bundle has the weights.
    pub with_weights: bool,
}

/// What a file is chosen for.
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
    /// A word for ids.
    pub fn word(self) -> &'static str {
        match self {
            Slot::Weights => "weights",
            Slot::Input => "input",
            Slot::Candidate => "candidate",
        }
    }
}

/// Where something can be wrong that is no value of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The configuration as a whole.
    Config,
    /// The picture's size.
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

/// What goes on in the worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Busy {
    /// What is being done.
    pub line: String,
    /// Share of the work that is done, from 0 to 1.
    pub share: f64,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// What ran.
    pub about: Vec<Row>,
    /// How it went.
    pub facts: Facts,
}

/// A comparison with another run.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What came out.
    pub report: Report,
    /// The other run's file.
    pub name: String,
    /// The precision that the other run's numbers look like, where that is another: a place in [`choice::PRECISIONS`].
    pub suggested: Option<usize>,
}

/// How many threads a run may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// As many as the machine runs at once.
    pub most: usize,
    /// As many as can be chosen.
    pub offered: usize,
    /// As many as are chosen.
    pub chosen: usize,
    /// A reload would allow more.
    pub after_reload: bool,
}

/// What is at fault at a control: what is said, and a size that would be right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The problem; nothing when there is none.
    pub problem: String,
    /// Height and width, pixels, that would be right.
    pub next_size: Option<(usize, usize)>,
}

impl State {
    /// The page as an address opens it.
    pub fn at(fragment: &str) -> State {
        let mut state = State { with_weights: true, ..State::default() };
        state.open(fragment);
        state
    }

    /// Takes the form out of an address.
    pub fn open(&mut self, fragment: &str) {
        let (choice, faults) = Choice::from_fragment(fragment);
        self.choice = choice;
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

    /// The files that the form names and that are not chosen.
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

    /// The form as a fragment, `#` included.
    pub fn fragment(&self) -> String {
        format!("#{}", self.choice.fragment())
    }

    /// The user sets a control.
    pub fn choose(&mut self, key: &'static str, value: &str) {
        match self.choice.choose(key, value) {
            Ok(()) => drop(self.refused.remove(key)),
            Err(problem) => drop(self.refused.insert(key, (value.to_owned(), problem))),
        }
        if key == "preset" {
            FIELDS.iter().for_each(|field| drop(self.refused.remove(field)));
        }
    }

    /// What a control shows; what was refused stays there to be corrected.
    pub fn value(&self, key: &str) -> String {
        let refused = self.refused.get(key).map(|(text, _)| text.clone());
        refused.or_else(|| self.choice.get(key)).unwrap_or_default()
    }

    /// What is wrong at a control.
    pub fn said_of(&self, key: &str) -> Said {
        if let Some((_, problem)) = self.refused.get(key) {
            return Said { problem: problem.clone(), next_size: None };
        }
        if let Some(Fault { problem, next_size, .. }) = self.choice.faults().into_iter().find(|fault| fault.key == key)
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

    /// Whether something is wrong with one of the configuration's fields.
    pub fn fields_are_wrong(&self) -> bool {
        let wrong = |key: &&str| !self.said_of(key).problem.is_empty();
        FIELDS.iter().any(wrong)
    }

    /// Takes the size that was offered.
    pub fn take_size(&mut self, (height, width): (usize, usize)) {
        self.choose("height", &height.to_string());
        self.choose("width", &width.to_string());
    }

    /// What is wrong at a place.
    pub fn fault(&self, place: Place) -> String {
        self.faults.get(&place).cloned().unwrap_or_default()
    }

    /// Something is wrong at a place.
    pub fn set_fault(&mut self, place: Place, problem: impl Into<String>) {
        self.faults.insert(place, problem.into());
    }

    /// Nothing is wrong at a place any more.
    pub fn clear_fault(&mut self, place: Place) {
        self.faults.remove(&place);
    }

    /// The chosen file.
    pub fn file(&self, slot: Slot) -> Option<&Chosen> {
        self.files.get(&slot)
    }

    /// The user chooses a file. False when it is too large.
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
        self.files.insert(slot, file);
        self.notice.clear();
        match slot {
            Slot::Weights => self.choose("weights", "file"),
            Slot::Input => self.choose("input", "file"),
            Slot::Candidate => {}
        }
        true
    }

    /// Whether the form can be run; else the id of the control to correct.
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
        let wrong = self.refused.keys().copied().chain(self.choice.faults().into_iter().map(|fault| fault.key)).next();
        wrong.map_or(Ok(()), |key| Err(format!("f-{key}")))
    }

    /// What the run that is asked for is of; `when` is a moment.
    pub fn about(&self, when: &str) -> Vec<Row> {
        let name = |slot| self.file(slot).map(|file| file.name.as_str());
        about::rows(&self.choice, name(Slot::Weights), name(Slot::Input), when)
    }

    /// A run is over.
    pub fn set_results(&mut self, results: Results) {
        self.results = Some(results);
        self.comparison = None;
    }

    /// What is known of the network.
    pub fn parameters(&self) -> String {
        self.choice.parameters().map_or(String::new(), |count| format!("{} parameters", thousands(count as u64)))
    }

    /// What the network is fed with.
    pub fn fed(&self) -> String {
        let (factor, (height, width)) = (self.choice.downsample.max(1), self.choice.size);
        match self.choice.has_input_file() {
            false => format!("The network’s input is {} × {} pixels per plane.", height / factor, width / factor),
            true => "A dense picture has its own size. Height and width are those of a sparse one: 1280 × 2048 in \
                     CosmicTagger’s data."
                .to_owned(),
        }
    }

    /// Bytes of the reference without modules' outputs, once there is a run.
    pub fn bundle_bytes(&self) -> Option<u64> {
        let facts = &self.results.as_ref()?.facts;
        let logits: usize = facts.shape.iter().product();
        // Picture and labels have one number where the logits have one for each class.
        let maps = logits + 2 * logits / uresnet::CLASSES;
        let weights = if self.with_weights { facts.parameters } else { 0 };
        Some(4 * (maps + weights) as u64)
    }
}

#[cfg(test)]
mod tests;
