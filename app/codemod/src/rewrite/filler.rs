//! The text of a replacement: captures and facts filled in, in the style of the user's file.

use crate::guards::Guards;
use crate::guards::by_device::ByDevice;
use crate::lift::negated;
use crate::matching::Match;
use crate::patch::{Patch, Shape};
use crate::settings::Settings;
use crate::step_parts::{self, StepParts};
use crate::template::{Lines, Part, Template};
use python::strings::requote;
use python::syntax::Argument;
use python::tree::{Id, kinds};
use std::cell::RefCell;
use std::ops::Range;
use training::{FileView, ProjectFacts};

/// The data that a rewrite needs in addition to the match.
pub(crate) struct Context<'a, 't> {
    pub(crate) view: &'a FileView<'t>,
    pub(crate) project: &'a ProjectFacts<'a, 't>,
    pub(crate) settings: &'a Settings<'a>,
    /// The target's configuration fields that the project has or gets.
    pub(crate) fields: &'a [String],
    /// The parts of the step as a verb found them, for the patches in its section.
    pub(crate) step: Option<&'a dyn StepParts>,
}

/// Why a match can't be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A fact that the rule writes is unknown at this place.
    UnknownFact(String),
    /// Positional arguments would come after named ones, and their names are not known.
    UnnamedArguments,
}

/// The values for the templates of one match.
pub(super) struct Filler<'a, 'c, 't, 'm> {
    pub(super) patch: &'a Patch,
    pub(super) cx: &'a Context<'c, 't>,
    pub(super) found: &'a Match<'m>,
    pub(super) imports: &'a RefCell<Vec<String>>,
    /// `$$$` of the replacement that come after keyword arguments and have captured positional ones.
    pub(super) late: Vec<String>,
}

/// Modules that a replacement may use without an import line.
pub(crate) const KNOWN_MODULES: [&str; 4] = ["torch", "os", "contextlib", "sys"];

impl Filler<'_, '_, '_, '_> {
    pub(super) fn captured(&self, part: &Part) -> Option<Range<usize>> {
        let range = match part {
            Part::One(name) => self.found.env.range(name),
            Part::Many(name) => self.found.env.range_of_many(name),
            _ => None,
        }?;
        let begins = range.start == self.cx.view.index.item(self.found.node).start;
        Some(if begins { self.start()..range.end } else { range })
    }

    /// Where the matched code begins: the parser parses `*x.y` as the attribute of `*x`, and the star does not belong
    /// to the attribute.
    pub(super) fn start(&self) -> usize {
        let index = &self.cx.view.index;
        let start = index.item(self.found.node).start;
        let splat = [kinds().list_splat, kinds().dictionary_splat].contains(&index.kind(self.found.node));
        start + usize::from(!splat && index.text_of(self.found.node).starts_with('*'))
    }

    /// The arguments captured by a `$$$`, each with its position among the positional ones, or none for `*xs`.
    fn places(&self, name: &str) -> Vec<(Id, Option<usize>)> {
        let index = &self.cx.view.index;
        let Some(range) = self.found.env.range_of_many(name) else { return Vec::new() };
        let mut place = 0;
        let mut out = Vec::new();
        for (id, argument) in index.arguments(self.found.node).ids().zip(index.arguments(self.found.node).iter()) {
            let met = range.start <= index.item(id).start && index.item(id).end <= range.end;
            match argument {
                Argument::Positional(_) => {
                    out.extend(met.then_some((id, Some(place))));
                    place += 1;
                }
                Argument::Unpacked(_) => out.extend(met.then_some((id, None))),
                _ => {}
            }
        }
        out
    }

    /// Which `$$$` of a replacement would put positional arguments after named ones.
    pub(super) fn find_late(&mut self, replacement: &Template) {
        let is_keyword = |text: &str| {
            text.match_indices('=').any(|(at, _)| {
                text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') && !text[at + 1..].starts_with('=')
            })
        };
        let mut named = false;
        for part in &replacement.parts {
            match part {
                Part::Text(text) => named |= is_keyword(text),
                Part::Many(name) if named => {
                    let places = self.places(name);
                    let known = places.iter().all(|(_, place)| self.parameter(*place).is_some());
                    // It can itself name the arguments that the pattern captured by position.
                    if !places.is_empty() && (known || self.found.env.given_by_place(name).is_empty()) {
                        self.late.push(name.clone());
                    }
                }
                _ => {}
            }
        }
    }

    fn parameter(&self, place: Option<usize>) -> Option<&str> {
        let function = self.cx.view.qualified(self.found.node)?;
        self.cx.settings.definitions.signature(&function)?.get(place?).map(String::as_str)
    }

    /// Whether every argument that has to get a name has one.
    pub(super) fn check_places(&self) -> Result<(), Refusal> {
        let known = |name: &String| self.places(name).iter().all(|(_, place)| self.parameter(*place).is_some());
        if self.late.iter().all(known) { Ok(()) } else { Err(Refusal::UnnamedArguments) }
    }

    /// The names for arguments of a `$$$` that come after named ones, each with its position.
    pub(super) fn given_names(&self, name: &str) -> Vec<(usize, String)> {
        let late = self.late.iter().any(|late| late == name);
        let places = if late { self.places(name) } else { Vec::new() };
        let named = |(id, place)| Some((self.cx.view.index.item(id).start, format!("{}=", self.parameter(place)?)));
        places.into_iter().filter_map(named).collect()
    }

    /// The text captured by a `$$$`.
    fn many(&self, name: &str) -> String {
        let Some(range) = self.captured(&Part::Many(name.to_owned())) else { return String::new() };
        let mut text = self.cx.view.index.text[range.clone()].to_owned();
        for (at, given) in self.given_names(name).into_iter().rev() {
            text.insert_str(at - range.start, &given);
        }
        text
    }

    /// Whether a positional argument would come after a keyword.
    pub(super) fn names_arguments(&self, replacement: &Template) -> bool {
        replacement.behind_keywords().into_iter().any(|part| match part {
            Part::Many(name) => !self.found.env.given_by_place(name).is_empty(),
            _ => false,
        })
    }

    /// `named` are the parts of the template after a keyword: a positional argument gets its name there.
    fn value(&self, part: &Part, named: &[&Part]) -> Option<String> {
        let text = self.cx.view.index.text;
        match part {
            Part::One(_) => self.captured(part).map(|r| text[r].to_owned()),
            Part::Many(name) if self.late.contains(name) => Some(self.many(name)),
            Part::Many(name) => {
                let Some(range) = self.captured(part) else { return Some(String::new()) };
                let mut filled = text[range.clone()].to_owned();
                if named.contains(&part) {
                    for (start, parameter) in self.found.env.given_by_place(name).into_iter().rev() {
                        filled.insert_str(start - range.start, &format!("{parameter}="));
                    }
                }
                Some(filled)
            }
            Part::Fact(name) => fact(self.cx, self.found.node, name),
            Part::Text(text) => Some(text.clone()),
        }
    }

    pub(super) fn fill(&self, template: &Template) -> Result<String, Refusal> {
        let template = self.in_file_style(&self.bracketed(template));
        let named = template.behind_keywords();
        template.fill(&|part| self.value(part, &named)).ok_or_else(|| {
            let missing = template.facts().find(|f| fact(self.cx, self.found.node, f).is_none()).unwrap_or("a fact");
            Refusal::UnknownFact(missing.to_owned())
        })
    }

    /// The template with the file's quotes and its spelling of imported names.
    fn in_file_style(&self, template: &Template) -> Template {
        let quote = self.cx.view.quote_at(self.found.node);
        let parts = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => Part::Text(self.spelled(&requote(text, quote))),
                other => other.clone(),
            })
            .collect();
        Template { parts }
    }

    /// Known modules under their names in the file; adds the import if there is none.
    fn spelled(&self, text: &str) -> String {
        let names = &self.cx.view.names;
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let end = rest[at..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .map_or(rest.len(), |n| at + n);
            out.push_str(&rest[..at]);
            let word = &rest[at..end];
            let boundary = !out.ends_with(['.', '"', '\'']) && !out.ends_with(|c: char| c.is_ascii_alphanumeric());
            let head = word.split('.').next().unwrap_or(word);
            let in_string = out.matches(['"', '\'']).count() % 2 == 1;
            let import_line = out.trim_end().ends_with("import")
                || text.trim_start().starts_with("import ")
                || text.trim_start().starts_with("from ");
            // `hasattr(torch, "hpu")` only names the module.
            let named = word == "torch"
                || (word.contains('.') && (KNOWN_MODULES.contains(&head) || self.own_spelling(word).is_some()));
            if boundary && named && !in_string && !import_line {
                if let Some(spelled) =
                    self.own_spelling(word).or_else(|| names.spelling(&self.cx.view.index, self.found.node, word))
                {
                    out.push_str(&spelled);
                } else {
                    self.need(format!("import {head}"));
                    out.push_str(word);
                }
            } else {
                out.push_str(word);
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    /// The user's spelling of a name in this match.
    fn own_spelling(&self, word: &str) -> Option<String> {
        let Shape::Expression { pattern, .. } = &self.patch.shape else { return None };
        let variable = pattern.qualified(word)?;
        self.found.env.range(variable).map(|range| self.cx.view.index.text[range].to_owned())
    }

    fn need(&self, import: String) {
        let mut imports = self.imports.borrow_mut();
        if !imports.contains(&import) {
            imports.push(import);
        }
    }

    /// Lines of new code, indented by the file's unit, the first line at column 0.
    pub(super) fn lines(&self, lines: &Lines) -> Result<String, Refusal> {
        let base = lines.0.iter().find(|(_, t)| !t.parts.is_empty()).map_or(0, |(i, _)| *i);
        let mut out = String::new();
        for (n, (indent, template)) in lines.0.iter().enumerate() {
            if n > 0 {
                out.push('\n');
            }
            for _ in 0..indent.saturating_sub(base) / 4 {
                out.push_str(&self.cx.view.layout.indent);
            }
            out.push_str(&self.fill(template)?);
        }
        Ok(out)
    }
}

/// A fact that a rule may write.
fn fact(cx: &Context<'_, '_>, node: Id, name: &str) -> Option<String> {
    let modes = cx.project.modes.as_ref();
    match name {
        "guard" => match modes {
            Some(modes) => modes.guard_at(cx.view, &cx.project.classes, node),
            None => device(cx)?.guard_at(cx.view, cx.project, node),
        },
        "others" => device(cx)?.guard_at(cx.view, cx.project, node).map(|guard| negated(&guard)),
        "device" => Some(device(cx)?.device_at(cx.view, cx.project, node)),
        "device.available" => Some(device(cx)?.available(cx.view)),
        "mode" => modes?.expression_at(cx.view, &cx.project.classes, node),
        "bridge" => bridge(cx, node),
        _ => {
            if let Some(option) = name.strip_prefix("option.") {
                return cx.settings.values.get(option).cloned();
            }
            if let Some(variable) = name.strip_prefix("variable.") {
                return cx.settings.variable(variable).map(str::to_owned);
            }
            if name.starts_with("step.") {
                let own = || step_parts::fact(cx.view, cx.project, node, name);
                return cx.step.map_or_else(own, |step| step.fact(node, name));
            }
            let field = name.strip_prefix("config.")?;
            let mode = match modes {
                Some(modes) => Some(modes.expression_at(cx.view, &cx.project.classes, node)?),
                None => None,
            };
            let known = |f: &str| cx.fields.iter().any(|known| known == f);
            cx.settings.field(field, mode.as_deref(), cx.view.layout.quote, &known)
        }
    }
}

/// The target as a device beside others.
fn device<'a>(cx: &Context<'a, '_>) -> Option<ByDevice<'a>> {
    ByDevice::of(cx.settings.target.device.as_ref(), &cx.settings.sdk)
}

/// How the target's bridge is accessed at a node: `self.htcore` in a class that stores it, otherwise `htcore`.
fn bridge(cx: &Context<'_, '_>, node: Id) -> Option<String> {
    let bridge = cx.settings.target.bridge.as_ref()?;
    let class = cx.view.class_of(node).map(|c| cx.view.name_of(c));
    if let Some(class) = class
        && cx.project.bridge_classes.iter().any(|b| cx.project.classes.related(b, class))
    {
        return Some(format!("self.{}", bridge.name));
    }
    cx.view.names.spelling(&cx.view.index, node, &bridge.module).filter(|s| {
        !s.contains('.')
            && cx.view.names.bindings.iter().any(|b| b.local == *s && cx.view.function_of(b.statement).is_none())
    })
}
