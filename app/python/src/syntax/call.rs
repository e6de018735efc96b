//! Calls, and the attributes on which they are made.

use super::{Arguments, view};
use crate::names::Names;
use crate::tree::{Id, Index, fields, kinds};

view!(
    /// `f(x, key=y)`.
    Call, call, call, calls
);

view!(
    /// `owner.name`.
    Attribute, attribute, attribute, attributes
);

impl<'i, 't> Call<'i, 't> {
    /// The function: a name, an attribute, or any other expression.
    pub fn callee(self) -> Option<Id> {
        self.field(fields().function)
    }

    /// The last part of the function's name: `cuda` of `net.cuda()`, `autocast` of `autocast()`.
    pub fn name(self) -> Option<&'t str> {
        let callee = self.callee()?;
        match self.index.attribute(callee) {
            Some(attribute) => attribute.name(),
            None => (self.index.kind(callee) == kinds().identifier).then(|| self.index.text_of(callee)),
        }
    }

    /// The receiver of a method call: `net` of `net.cuda()`.
    pub fn receiver(self) -> Option<Id> {
        self.index.attribute(self.callee()?)?.owner()
    }

    /// The qualified name of the function, through imports: `torch.optim.SGD`.
    pub fn qualified(self, names: &Names) -> Option<String> {
        names.qualify(self.index, self.callee()?)
    }

    /// Its arguments.
    pub fn arguments(self) -> Arguments<'i, 't> {
        Arguments::of(self.index, self.field(fields().arguments))
    }

    /// The first argument, of any kind.
    pub fn first_argument(self) -> Option<Id> {
        self.arguments().ids().next()
    }

    /// The argument for a parameter, by its name or by its position among the positional ones, from 0.
    pub fn argument(self, place: usize, name: &str) -> Option<Id> {
        self.arguments().get(place, name)
    }
}

impl<'t> Attribute<'_, 't> {
    /// The object before the dot.
    pub fn owner(self) -> Option<Id> {
        self.field(fields().object)
    }

    /// The identifier after the dot.
    pub fn name(self) -> Option<&'t str> {
        self.field(fields().attribute).map(|name| self.index.text_of(name))
    }
}

impl<'t> Index<'t> {
    /// The receiver of a method call; none if the node is not one.
    pub fn receiver(&self, call: Id) -> Option<Id> {
        self.call(call)?.receiver()
    }

    /// The function of a call.
    pub fn callee(&self, call: Id) -> Option<Id> {
        self.call(call)?.callee()
    }

    /// The arguments of a call; none if the node is not a call.
    pub fn arguments(&self, call: Id) -> Arguments<'_, 't> {
        self.call(call).map_or_else(|| Arguments::of(self, None), Call::arguments)
    }

    /// Whether a node is the last part of an attribute or the name of a keyword argument, which does not mention a
    /// variable.
    pub fn is_label(&self, id: Id) -> bool {
        let (k, f) = (kinds(), fields());
        self.parent(id).is_some_and(|parent| {
            let kind = self.kind(parent);
            (kind == k.attribute && self.field(parent, f.attribute) == Some(id))
                || (kind == k.keyword_argument && self.field(parent, f.name) == Some(id))
        })
    }

    /// Whether a node is in a type annotation.
    pub fn is_in_annotation(&self, id: Id) -> bool {
        self.ancestors(id).any(|a| self.kind(a) == kinds().r#type)
    }

    /// The name of a keyword argument.
    pub fn keyword_name(&self, argument: Id) -> Option<&'t str> {
        let is_keyword = self.kind(argument) == kinds().keyword_argument;
        is_keyword.then(|| self.field(argument, fields().name)).flatten().map(|name| self.text_of(name))
    }
}
