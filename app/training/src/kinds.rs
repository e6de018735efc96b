//! The kinds of value that an expression may have.

use python::origins::Place;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::ops::{BitOr, BitOrAssign};

/// The kinds that a value may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// A Python number.
    pub const NUMBER: Self = Self(1);
    /// Another value of Python's own: None, a truth value, a collection, a size.
    pub const PLAIN: Self = Self(2);
    /// A tensor or an array of truth values.
    pub const MASK: Self = Self(4);
    /// A NumPy array of 64-bit floats.
    pub const FLOAT64: Self = Self(8);
    /// A string.
    pub const TEXT: Self = Self(16);
    /// A tensor that PyTorch makes, or that is computed from one, without gradients.
    pub const TENSOR: Self = Self(32);
    /// Such a tensor of truth values.
    pub(crate) const HOST_MASK: Self = Self(4 | 32);
    /// Anything else.
    pub const UNKNOWN: Self = Self(64);

    /// Whether it may be of this kind.
    pub fn may_be(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    /// Whether it is of this kind, wherever it comes from.
    pub fn is(self, kind: Self) -> bool {
        self == kind
    }

    /// Whether it is a number, or a setting that is one if the program computes with it.
    pub fn is_number(self) -> bool {
        self.may_be(Self::NUMBER) && self.is_of_python()
    }

    pub(crate) fn is_of_python(self) -> bool {
        self.0 != 0 && self.0 & !(Self::NUMBER.0 | Self::PLAIN.0 | Self::TEXT.0) == 0
    }

    /// A mask that is computed from values: a host tensor, if they are.
    pub(crate) fn made_of(self, values: Self) -> Self {
        let is_host = values.may_be(Self::TENSOR) && values.0 & !(Self::TENSOR.0 | Self::MASK.0 | Self::NUMBER.0) == 0;
        if is_host { Self::HOST_MASK } else { self }
    }

    /// Whether it is a tensor that records no gradients.
    pub fn is_host_tensor(self) -> bool {
        self == Self::TENSOR || self == Self::HOST_MASK
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..7).map(|bit| Self(1 << bit)).filter(move |kind| self.may_be(*kind))
    }
}

impl BitOr for Kinds {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Kinds {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The kinds of the project's expressions, as far as they were asked for.
#[derive(Debug, Default)]
pub(crate) struct KnownKinds {
    pub(crate) known: RefCell<FxHashMap<Place, Kinds>>,
    /// Those that are being looked for, or depend on one of them: how far up the first of these is.
    pub(crate) open: RefCell<FxHashMap<Place, usize>>,
    /// Those that depend on one that is being looked for.
    pub(crate) pending: RefCell<Vec<Place>>,
    /// The first of those that are being looked for on which the present one depends.
    pub(crate) lowest: Cell<usize>,
    pub(crate) depth: Cell<usize>,
}

/// The result of an operator between two values.
pub(crate) fn arithmetic(operator: &str, left: Kinds, right: Kinds) -> Kinds {
    let one = |a: Kinds, b: Kinds| match (a | b, operator) {
        (Kinds::NUMBER, _) => Kinds::NUMBER,
        (both, "&" | "|" | "^") if both.may_be(Kinds::MASK) => Kinds::MASK,
        (both, _) if both.may_be(Kinds::TENSOR) => Kinds::TENSOR,
        (both, _) if both.is_of_python() => {
            if both.may_be(Kinds::TEXT) {
                Kinds::TEXT
            } else {
                Kinds::PLAIN
            }
        }
        (both, _)
            if both.may_be(Kinds::FLOAT64) && (both == Kinds::FLOAT64 || both == Kinds::FLOAT64 | Kinds::NUMBER) =>
        {
            Kinds::FLOAT64
        }
        _ => Kinds::UNKNOWN,
    };
    left.each().flat_map(|a| right.each().map(move |b| one(a, b))).fold(Kinds::default(), BitOr::bitor)
}
