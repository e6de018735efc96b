//! Messages: the engine's texts are named definitions in the guides; here are the names and the values of their slots.

use super::slots::SlotText;
use python::Id;
use training::Obstacle;

/// A message that some code reports, and its slots. A guide has to define the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageShape {
    pub(crate) name: &'static str,
    pub(crate) slots: &'static [&'static str],
}

/// A message with the values of its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) name: &'static str,
    pub(crate) slots: Vec<(&'static str, String)>,
}

impl Said {
    /// The message as an obstacle to porting a step, at a node.
    pub(crate) fn at(self, node: Id) -> Obstacle {
        Obstacle { name: self.name, at: node, slots: self.slots }
    }
}

impl From<Obstacle> for Said {
    fn from(Obstacle { name, slots, .. }: Obstacle) -> Self {
        Self { name, slots }
    }
}

/// Text for the user: a message of the guides, or text that was already generated from a guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sentence {
    Text(String),
    Said(Said),
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Sentence {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Sentence {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Said> for Sentence {
    fn from(said: Said) -> Self {
        Self::Said(said)
    }
}

/// A message's text.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) text: SlotText,
    /// Its section, `engine#residue`.
    pub(crate) section: String,
    /// That section's title.
    pub(crate) title: String,
}

impl Message {
    /// The text; a slot without a value keeps its name, which the compiler of guides rules out.
    pub(crate) fn fill(&self, said: &Said) -> String {
        let value = |slot: &str| said.slots.iter().find(|(name, _)| *name == slot).map(|(_, value)| value.as_str());
        self.text.fill(|slot| Some(value(slot).unwrap_or("?"))).unwrap_or_default()
    }
}

/// Declares messages: a function for each, whose arguments fill its slots, and `MESSAGES`, the list of all.
///
/// ```text
/// messages! {
/// step_is_split(place);
/// no_update();
/// }
/// input.refuse_step(view, node, step_is_split("train.py:12"));
/// ```
macro_rules! messages {
    ($($name:ident($($slot:ident),*);)*) => {
        $(
            pub(crate) fn $name($($slot: impl Into<String>),*) -> $crate::definitions::Said {
                $crate::definitions::Said {
                    name: stringify!($name),
                    slots: vec![$((stringify!($slot), $slot.into())),*],
                }
            }
        )*

        pub(crate) const MESSAGES: &[$crate::definitions::MessageShape] = &[
            $($crate::definitions::MessageShape { name: stringify!($name), slots: &[$(stringify!($slot)),*] }),*
        ];
    };
}

pub(crate) use messages;
