//! Fences that define what rules and the engine use by name: lists of names, messages, blocks and modules of Python,
//! conditions, signatures.

use crate::conditions;
use crate::error::Faults;
use crate::model::{Defined, Definition, ListedName};

/// The kinds of definitions, by the words of their fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Names,
    Words,
    Message,
    Block,
    Module,
    Conditions,
    Signatures,
}

/// Parses the body of the fence at `line`. Signatures are several definitions, the others one.
pub(crate) fn read(kind: Kind, name: &str, line: usize, body: &str, faults: &mut Faults) -> Vec<Definition> {
    if body.trim().is_empty() {
        faults.add(line, "this fence is empty: add its contents, or remove it");
        return Vec::new();
    }
    let what = match kind {
        Kind::Names => Defined::Names(names(body, line, faults)),
        Kind::Words => Defined::Words(names(body, line, faults).into_iter().map(|listed| listed.name).collect()),
        Kind::Message => Defined::Message(body.split_whitespace().collect::<Vec<_>>().join(" ")),
        Kind::Block => Defined::Block(body.to_string()),
        Kind::Module => Defined::Module(body.to_string()),
        Kind::Conditions => Defined::Conditions(conditions::read(body, line + 1, faults)),
        Kind::Signatures => return signatures(body, line, faults),
    };
    vec![Definition { name: name.to_string(), line, what }]
}

fn names(body: &str, line: usize, faults: &mut Faults) -> Vec<ListedName> {
    let mut names: Vec<ListedName> = Vec::new();
    for (index, text) in body.lines().enumerate() {
        let (name, remark) = text.split_once(" #").unwrap_or((text, ""));
        let (name, remark) = (name.trim().to_string(), remark.trim().to_string());
        if name.is_empty() {
            continue;
        }
        if names.iter().any(|known| known.name == name) {
            faults.add(line + 1 + index, format!("`{name}` is already in this list"));
        }
        names.push(ListedName { name, remark });
    }
    names
}

/// `torch.autocast(device_type, dtype, *, enabled)`, one per line.
fn signatures(body: &str, line: usize, faults: &mut Faults) -> Vec<Definition> {
    let mut found = Vec::new();
    for (index, text) in body.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = line + 1 + index;
        let Some((name, parameters)) = text.trim().strip_suffix(')').and_then(|text| text.split_once('(')) else {
            faults.add(line, format!("`{}` is not `module.function(first, second)`", text.trim()));
            continue;
        };
        let parameters: Vec<String> = parameters.split(',').map(|name| name.trim().to_string()).collect();
        // Parameters after a lone `*` are keyword-only.
        let by_place: Vec<String> = parameters.into_iter().take_while(|name| name != "*").collect();
        if let Some(name) = by_place.iter().find(|name| !is_identifier(name)) {
            faults.add(line, format!("`{name}` is not a parameter name"));
        }
        found.push(Definition { name: name.to_string(), line, what: Defined::Signature(by_place) });
    }
    found
}

fn is_identifier(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
