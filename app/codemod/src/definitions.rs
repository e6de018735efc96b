//! Named definitions in guides for rules and verbs: lists of names, messages, blocks and modules of Python, conditions,
//! signatures.
//!
//! A guide with a target defines for its target, and for those that extend it; a guide without one (`guides/engine.md`)
//! for all. Unused definitions are errors, and so are missing ones: [`Wanted`] collects the used names while recipes
//! are compiled.

mod block;
mod message;
mod slots;

pub(crate) use block::{Block, Style, Values};
pub(crate) use message::{Message, MessageShape, Said, Sentence, messages};

use crate::error::RecipeError;
use guide::{Condition, Defined, Guide, ListedName};
use python::Tree;
use python::source::words;
use slots::SlotText;
use sorting::{SortedMap, SortedSet};
use std::cell::RefCell;
use std::sync::Arc;

/// A block that some code writes, and its values: slots and flags by their names, lists, and `list.slot` for the values
/// of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    pub(crate) name: &'static str,
    pub(crate) fills: &'static [&'static str],
}

impl BlockShape {
    pub(crate) const fn new(name: &'static str, fills: &'static [&'static str]) -> Self {
        Self { name, fills }
    }
}

/// The list of a target's own names.
pub(crate) const OWN_NAMES: &str = "own_names";

/// Values that the engine provides for every block: options, environment variables, fields of the configuration.
const FACTS: [&str; 3] = ["option.", "variable.", "config."];

/// The location of a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    path: Arc<str>,
    line: usize,
}

/// Definitions of one kind, by name.
#[derive(Clone, Debug)]
struct Table<T>(SortedMap<String, (Place, Arc<T>)>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(SortedMap::new())
    }
}

impl<T> Table<T> {
    /// Adds a definition, or returns where the name is already defined.
    fn add(&mut self, name: &str, place: Place, what: T) -> Result<(), Place> {
        match self.0.get(name) {
            Some((first, _)) => Err(first.clone()),
            None => {
                self.0.insert(name.to_owned(), (place, Arc::new(what)));
                Ok(())
            }
        }
    }

    fn extend(&mut self, base: &Self) {
        for (name, defined) in &base.0 {
            self.0.entry(name.clone()).or_insert_with(|| defined.clone());
        }
    }

    fn places(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.0.iter().map(|(name, (place, _))| (name.as_str(), place))
    }

    fn get(&self, name: &str) -> Option<&(Place, Arc<T>)> {
        self.0.get(name)
    }
}

/// All definitions for one target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    names: Table<Vec<ListedName>>,
    messages: Table<Message>,
    blocks: Table<Block>,
    conditions: Table<Vec<Condition>>,
    signatures: Table<Vec<String>>,
    modules: Table<Module>,
}

/// A file that a port adds if it imports it.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// The recipe's id.
    pub(crate) recipe: String,
    pub(crate) text: String,
}

/// The definitions that are used.
#[derive(Default)]
pub(crate) struct Wanted(RefCell<SortedSet<Place>>);

impl Definitions {
    /// Adds the definitions of one guide; returns the errors.
    pub(crate) fn add(&mut self, guide: &Guide) -> Vec<RecipeError> {
        let path: Arc<str> = guide.path.as_str().into();
        let mut errors = Vec::new();
        for section in &guide.sections {
            for definition in &section.definitions {
                let place = Place { path: path.clone(), line: definition.line };
                let name = definition.name.as_str();
                let added = match &definition.what {
                    // `training` is built with these.
                    Defined::Words(_) => continue,
                    Defined::Names(names) => Ok(self.names.add(name, place, names.clone())),
                    Defined::Conditions(conditions) => Ok(self.conditions.add(name, place, conditions.clone())),
                    Defined::Signature(parameters) => Ok(self.signatures.add(name, place, parameters.clone())),
                    Defined::Module(text) if Tree::parse(text).has_error() => {
                        Err((definition.line, format!("`python module {name}` is not valid Python")))
                    }
                    Defined::Module(text) => {
                        let recipe = format!("{}#{}", guide.name, section.id);
                        Ok(self.modules.add(name, place, Module { recipe, text: text.clone() }))
                    }
                    Defined::Message(text) => SlotText::parse(text)
                        .map(|text| Message {
                            text,
                            section: format!("{}#{}", guide.name, section.id),
                            title: section.title.clone(),
                        })
                        .map(|message| self.messages.add(name, place, message))
                        .map_err(|message| (definition.line, message)),
                    Defined::Block(body) => Block::compile(body)
                        .map(|block| self.blocks.add(name, place, block))
                        .map_err(|(line, message)| (definition.line + 1 + line, message)),
                };
                let fault = match added {
                    Ok(Ok(())) => continue,
                    Ok(Err(first)) => {
                        (definition.line, format!("`{name}` is already defined in {}:{}", first.path, first.line))
                    }
                    Err(fault) => fault,
                };
                errors.push(RecipeError { path: guide.path.clone(), line: fault.0, message: fault.1 });
            }
        }
        errors
    }

    /// Adds definitions from elsewhere that are missing here.
    pub(crate) fn extend(&mut self, base: &Self) {
        self.names.extend(&base.names);
        self.messages.extend(&base.messages);
        self.blocks.extend(&base.blocks);
        self.conditions.extend(&base.conditions);
        self.signatures.extend(&base.signatures);
        self.modules.extend(&base.modules);
    }

    /// A list of names.
    pub(crate) fn names(&self, list: &str) -> &[ListedName] {
        self.names.get(list).map_or(&[], |(_, names)| names)
    }

    /// The line of a list that has a name, or with `*` at its end the beginning of it.
    pub(crate) fn listed(&self, list: &str, name: &str) -> Option<&ListedName> {
        self.names(list).iter().find(|listed| covers(&listed.name, name))
    }

    /// The names that the port uses and a program has, too: each with a free one, which the list may suggest.
    pub(crate) fn renamed(&self, program: &str) -> Vec<(String, String)> {
        let has = |name: &str| words(program, name).next().is_some();
        let free = |listed: &ListedName| {
            let numbered = (2..).map(|n| format!("{}{n}", listed.name));
            let suggested = Some(listed.remark.clone()).filter(|name| !name.is_empty());
            suggested.into_iter().chain(numbered).find(|name| !has(name)).unwrap_or_default()
        };
        let taken = self.names(OWN_NAMES).iter().filter(|listed| has(&listed.name));
        taken.map(|listed| (listed.name.clone(), free(listed))).collect()
    }

    /// A message's text and its section.
    pub(crate) fn message(&self, said: &Said) -> (String, &str) {
        match self.messages.get(said.name) {
            Some((_, message)) => (message.fill(said), &message.section),
            None => (said.name.replace('_', " "), ""),
        }
    }

    /// The title of a section that has messages.
    pub(crate) fn title(&self, section: &str) -> Option<&str> {
        let mut messages = self.messages.0.values().map(|(_, message)| message);
        messages.find(|message| message.section == section).map(|message| message.title.as_str())
    }

    /// A message that a rule reports, with the text of its metavariables.
    pub(crate) fn message_of_rule<'v>(&self, name: &str, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
        self.messages.get(name)?.1.text.fill(value)
    }

    /// The functions and classes that a block defines.
    pub(crate) fn defined_by(&self, block: &str) -> Vec<&str> {
        self.blocks.get(block).map_or_else(Vec::new, |(_, block)| block.defines())
    }

    /// A block as Python, with these names of its own replaced.
    pub(crate) fn block(
        &self,
        name: &str,
        values: &Values,
        style: Style<'_>,
        renamed: &[(String, String)],
    ) -> Option<String> {
        self.blocks.get(name)?.1.write(values, style, renamed)
    }

    /// The modules that ports add, by name.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (&str, &Module)> {
        self.modules.0.iter().map(|(name, (_, module))| (name.as_str(), &**module))
    }

    /// The parameters of a function that may be passed by position, by the dotted name that rules use.
    pub(crate) fn signature(&self, function: &str) -> Option<&[String]> {
        self.signatures.get(function).map(|(_, parameters)| parameters.as_slice())
    }

    /// Functions by their dotted names, with the parameters that may be passed by position.
    pub(crate) fn signatures(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.signatures.0.iter().map(|(name, (_, parameters))| (name.as_str(), parameters.as_slice()))
    }

    /// The values of a list that a condition uses.
    pub(crate) fn wanted_names(&self, list: &str, wanted: &Wanted) -> Result<&[ListedName], String> {
        let found = self.names.get(list).ok_or_else(|| format!("unknown list `names {list}`"))?;
        wanted.note(&found.0);
        Ok(&found.1)
    }

    /// The named conditions that a rule uses.
    pub(crate) fn wanted_conditions(&self, name: &str, wanted: &Wanted) -> Result<&[Condition], String> {
        let found = self.conditions.get(name).ok_or_else(|| format!("unknown conditions `{name}`"))?;
        wanted.note(&found.0);
        Ok(&found.1)
    }

    /// Marks a message as used by a rule, whose metavariables are its slots.
    pub(crate) fn wanted_message(&self, name: &str, variables: &[&str], wanted: &Wanted) -> Result<(), String> {
        let (place, message) = self.messages.get(name).ok_or_else(|| format!("unknown message `{name}`"))?;
        wanted.note(place);
        match message.text.slots().find(|slot| !variables.contains(slot)) {
            Some(slot) => Err(format!("`message {name}` uses `{slot}`, but the rule has no `${slot}`")),
            None => Ok(()),
        }
    }

    /// Marks a message as used by a rule of the target's base, if the target has its own text for it.
    pub(crate) fn want_message(&self, name: &str, wanted: &Wanted) {
        if let Some((place, _)) = self.messages.get(name) {
            wanted.note(place);
        }
    }

    /// Marks a block as used by a rule; it may only use options.
    pub(crate) fn wanted_block(&self, name: &str, wanted: &Wanted) -> Result<(), String> {
        let (place, block) = self.blocks.get(name).ok_or_else(|| format!("unknown block `python block {name}`"))?;
        wanted.note(place);
        if block.defines().is_empty() {
            return Err(format!("`python block {name}` defines no top-level function or class"));
        }
        match block.asks().into_iter().find(|slot| !slot.starts_with("option.") && !slot.starts_with("variable.")) {
            Some(slot) => Err(format!(
                "`python block {name}` uses `{slot}`; a rule provides only `option.NAME` and `variable.NAME.MEANING`"
            )),
            None => Ok(()),
        }
    }

    /// Marks what some code reports, writes and reads as used; returns what the guides lack.
    pub(crate) fn want(
        &self,
        messages: impl IntoIterator<Item = MessageShape>,
        blocks: &[BlockShape],
        lists: &[&str],
        wanted: &Wanted,
    ) -> Vec<String> {
        let mut missing = Vec::new();
        for shape in messages {
            let Some((place, message)) = self.messages.get(shape.name) else {
                missing.push(format!("`message {}` is missing", shape.name));
                continue;
            };
            wanted.note(place);
            let unknown = message.text.slots().filter(|slot| !shape.slots.contains(slot));
            missing.extend(unknown.map(|slot| {
                let known = if shape.slots.is_empty() { "none".to_owned() } else { shape.slots.join(", ") };
                format!("`message {}` uses unknown `{slot}`; available: {known}", shape.name)
            }));
        }
        for shape in blocks {
            let Some((place, block)) = self.blocks.get(shape.name) else {
                missing.push(format!("`python block {}` is missing", shape.name));
                continue;
            };
            wanted.note(place);
            let general = |slot: &str| FACTS.iter().any(|start| slot.starts_with(start));
            let unknown =
                block.asks().into_iter().filter(|slot| !shape.fills.contains(&slot.as_str()) && !general(slot));
            missing.extend(unknown.map(|slot| {
                format!("`python block {}` uses unknown `{slot}`; available: {}", shape.name, shape.fills.join(", "))
            }));
        }
        for list in lists {
            match self.names.get(list) {
                Some((place, _)) => wanted.note(place),
                None => missing.push(format!("unknown list `names {list}`")),
            }
        }
        missing
    }

    /// Marks the signatures of functions, and the modules, whose name occurs in a text of a rule as used.
    pub(crate) fn want_named(&self, text: &str, wanted: &Wanted) {
        for (name, place) in self.signatures.places().chain(self.modules.places()) {
            if text.contains(name) {
                wanted.note(place);
            }
        }
    }

    /// Unused definitions, with their kind and their name.
    pub(crate) fn unused(&self, wanted: &Wanted) -> Vec<RecipeError> {
        let all = (self.names.places().map(|(name, place)| (format!("`@{name}`: unused list"), place)))
            .chain(self.messages.places().map(|(name, place)| (format!("`{name}`: unused message"), place)))
            .chain(self.blocks.places().map(|(name, place)| (format!("`{name}`: unused block"), place)))
            .chain(self.conditions.places().map(|(name, place)| (format!("`@{name}`: unused conditions"), place)))
            .chain(self.signatures.places().map(|(name, place)| (format!("`{name}`: unused signature"), place)))
            .chain(self.modules.places().map(|(name, place)| (format!("`{name}`: unused module"), place)));
        let wanted = wanted.0.borrow();
        all.filter(|(_, place)| !wanted.contains(place))
            .map(|(what, place)| RecipeError {
                path: place.path.to_string(),
                line: place.line,
                message: format!("{what}; remove it"),
            })
            .collect()
    }
}

impl Wanted {
    fn note(&self, place: &Place) {
        self.0.borrow_mut().insert(place.clone());
    }
}
/// Whether a name is that of a line of a list, which with `*` at its end means all names that begin so.
pub(crate) fn covers(line: &str, name: &str) -> bool {
    line.strip_suffix('*').map_or(name == line, |start| name.starts_with(start))
}
