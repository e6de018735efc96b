//! The kinds of faults of a port, and one such fault.

use serde_json::{Value, json};

/// The kinds of faults, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The engine panicked, or its process died.
    Panic,
    /// A port exceeded its time limit.
    TimeOut,
    /// CPython compiles the original but not the port.
    DoesNotParse,
    /// A second port changes something.
    SecondPort,
    /// Bytes outside the edits, line endings or the byte order mark differ from the original's.
    LostBytes,
    /// A statement that no edit touches is another one in the port, or in another block.
    OtherTree,
    /// A comment of the original is missing, and no edit names it.
    LostComment,
    /// `git apply` rejects the patch or produces a different result, or the reverse patch does not restore the
    /// original.
    Patch,
    /// CUDA is used on a line that was neither edited nor reported.
    Residue,
    /// The same for other software of NVIDIA's: a package, a variable, a command, a device by its number.
    Foreign,
    /// The same for a string that is a key, is looked up or is displayed: only counted, though it may still be a device name.
    Word,
    /// CPython compiles the file, but the engine rejects it or can't finish.
    Refused,
    /// CPython could not say all that was asked about a text, so that not everything was examined.
    NotExamined,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Panic,
        Self::TimeOut,
        Self::DoesNotParse,
        Self::SecondPort,
        Self::LostBytes,
        Self::OtherTree,
        Self::LostComment,
        Self::Patch,
        Self::Residue,
        Self::Foreign,
        Self::Word,
        Self::Refused,
        Self::NotExamined,
    ];

    /// The name in reports and in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::TimeOut => "timeout",
            Self::DoesNotParse => "does not parse",
            Self::SecondPort => "not idempotent",
            Self::LostBytes => "bytes changed",
            Self::OtherTree => "other code changed",
            Self::LostComment => "comment lost",
            Self::Patch => "patch rejected",
            Self::Residue => "unreported CUDA use",
            Self::Foreign => "unreported NVIDIA software",
            Self::Word => "unreported mention",
            Self::Refused => "file rejected",
            Self::NotExamined => "not examined",
        }
    }

    /// Whether it is only counted and listed, not a failure.
    pub fn is_allowed(self) -> bool {
        matches!(self, Self::Word)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One fault of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: Kind,
    /// Distinguishes this fault from others of its kind: the message without names and numbers of the file.
    pub class: String,
    /// What happened, with the line.
    pub detail: String,
}

impl Fault {
    /// A fault of a class.
    pub fn new(kind: Kind, class: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, class: class.into(), detail: detail.into() }
    }

    /// The fault for another process.
    pub fn to_json(&self) -> Value {
        json!([self.kind.name(), self.class, self.detail])
    }

    /// A fault of another process; none if the value is none.
    pub fn from_json(value: &Value) -> Option<Self> {
        let text = |n: usize| value[n].as_str();
        Some(Self::new(Kind::named(text(0)?)?, text(1)?, text(2)?))
    }
}
