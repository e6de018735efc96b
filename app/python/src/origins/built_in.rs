//! Python's own functions and methods that give back what they are given, or a part of it.

use super::{Origin, Origins, Part};
use crate::names::called_name;
use crate::tree::Id;

impl<'t> Origins<'_, 't> {
    /// The values of a call of one of Python's own functions or a method of its containers.
    pub(super) fn of_built_in(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let index = &self.file(value.place).index;
        let call = value.place.id;
        let name = called_name(index, call)?;
        let positional: Vec<Id> = index.arguments(call).positional().collect();
        let first = positional.first().copied();
        let one = |origin: Origin<'t>| Some(vec![origin]);
        let Some(object) = index.receiver(call) else {
            return match (name, value.parts.as_slice()) {
                ("list" | "tuple" | "sorted" | "reversed" | "iter", [.., _]) => one(value.at(first?)),
                ("next", _) => one(value.part(first?, Part::Any)),
                ("enumerate", [rest @ .., Part::Item("1"), Part::Any]) => one(taken(value, first?, rest)),
                ("zip", [rest @ .., Part::Item(place), Part::Any]) => {
                    one(taken(value, *positional.get(place.parse::<usize>().ok()?)?, rest))
                }
                ("getattr", _) => {
                    let name = crate::strings::plain_string(index, *positional.get(1)?)?;
                    one(value.part(first?, Part::Attribute(name)))
                }
                ("dict", [.., Part::Item(name)]) | ("SimpleNamespace" | "Namespace", [.., Part::Attribute(name)]) => {
                    one(value.inside(index.arguments(call).keyword(name)?))
                }
                _ => None,
            };
        };
        match (name, value.parts.as_slice()) {
            ("values", [.., Part::Any]) => one(value.at(object)),
            ("items", [rest @ .., Part::Item("1"), Part::Any]) => one(taken(value, object, rest)),
            ("copy", _) if positional.is_empty() => one(value.at(object)),
            ("get" | "pop", _) => one(value.part(object, Part::Item(super::item(index, first?)?))),
            ("SimpleNamespace" | "Namespace", [.., Part::Attribute(name)]) => {
                one(value.inside(index.arguments(call).keyword(name)?))
            }
            _ => None,
        }
    }
}

/// Any item of another node, with what is left to be taken out of it.
fn taken<'t>(value: &Origin<'t>, id: Id, rest: &[Part<'t>]) -> Origin<'t> {
    Origin { parts: [rest, &[Part::Any]].concat(), ..value.at(id) }
}
