//! Changes of expressions, arguments, names and strings.

use super::{Change, replaced};
use crate::fuzz::random::Random;
use python::Index;
use python::tree::{Item, kinds};

pub(super) const CHANGES: &[Change] = &[
    wrap,
    wrap,
    replace,
    replace,
    exchange,
    argument,
    argument,
    break_lines,
    string,
    rename,
    other_name,
    assignment,
    import,
];

/// Replacements of an expression, which is inserted at `{}`.
const WRAPS: &[&str] = &[
    "({})",
    "(({}))",
    "(\n    {}\n)",
    "({}  # why\n)",
    "{} if flag else {}",
    "x if {} else y",
    "(lambda: {})()",
    "[{}][0]",
    "(it := {})",
    "await {}",
    "*{}",
    "not {}",
    "{} or {}",
    "{}.x",
    "{}()",
    "{}[0]",
    "{}.module",
    "f\"{{}}\"",
    "f(*{})",
    "f(**{})",
    "{{0: {}}}[0]",
    "[{} for _ in a]",
    "{} \\\n        or {}",
    "f({}, key={})",
    "-{}",
    "{}, {}",
    "({},)",
    "{}.cuda()",
    "str({})",
    "lambda x={}: x",
    "{}[..., 1:]",
    "(yield {})",
];

const ARGUMENTS: &[&str] = &[
    ", *args",
    ", **kwargs",
    ",",
    ", non_blocking=True",
    ", None",
    ", 0",
    ", device=device",
    ",  # why\n    x",
    ", (lambda: 0)()",
    ", set_to_none=True",
    ", enabled=flag",
    ", dtype=torch.float16",
    ", x for x in y",
];

fn is_expression(index: &Index<'_>, item: &Item) -> bool {
    let k = kinds();
    let expressions = [
        k.call,
        k.attribute,
        k.identifier,
        k.string,
        k.subscript,
        k.binary_operator,
        k.boolean_operator,
        k.comparison_operator,
        k.list,
        k.tuple,
        k.dictionary,
        k.integer,
        k.float,
        k.r#true,
        k.r#false,
        k.none,
        k.parenthesized_expression,
        k.lambda,
        k.conditional_expression,
        k.not_operator,
        k.unary_operator,
        k.concatenated_string,
    ];
    // Names that are not values: of parameters, keywords, definitions, imports.
    let parent = index.kind(item.parent);
    let name = item.kind == k.identifier
        && [k.dotted_name, k.keyword_argument, k.parameters, k.function_definition, k.class_definition]
            .contains(&parent);
    expressions.contains(&item.kind) && !name
}

fn expressions(index: &Index<'_>) -> Vec<(usize, usize)> {
    let all = index.items.iter().skip(1).filter(|item| is_expression(index, item));
    all.map(|item| (item.start, item.end)).collect()
}

fn wrap(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = expressions(index);
    let &(start, end) = random.pick(&all)?;
    let own = index.text.get(start..end)?;
    let form = random.pick(WRAPS)?.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let form = form.replace("{}", own).replace('\u{1}', "{").replace('\u{2}', "}");
    replaced(index.text, start..end, &form)
}

fn replace(index: &Index<'_>, other: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = expressions(index);
    let &(start, end) = random.pick(&all)?;
    let from = if random.one_in(2) { index } else { other };
    let others = expressions(from);
    let &(a, b) = random.pick(&others)?;
    replaced(index.text, start..end, from.text.get(a..b)?)
}

fn exchange(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = expressions(index);
    let (a, b) = (*random.pick(&all)?, *random.pick(&all)?);
    let (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
    let between = index.text.get(a.1..b.0)?;
    let (first, second) = (index.text.get(a.0..a.1)?, index.text.get(b.0..b.1)?);
    replaced(index.text, a.0..b.1, &format!("{second}{between}{first}"))
}

/// One argument more, or one less.
fn argument(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let list = *random.pick(index.of_kind(kinds().argument_list))?;
    let (own, parts) = (index.item(list), index.parts(list).collect::<Vec<_>>());
    if !parts.is_empty() && random.one_in(3) {
        let part = index.item(*random.pick(&parts)?);
        let comma = index.text[part.end..own.end].find(',').map_or(0, |at| at + 1);
        return replaced(index.text, part.start..part.end + comma, "");
    }
    let more = random.pick(ARGUMENTS)?;
    let more = if parts.is_empty() { more.trim_start_matches([',', ' ']) } else { more };
    replaced(index.text, own.end.checked_sub(1)?..own.end - 1, more)
}

/// A new line, perhaps with a comment, after every comma or bracket of a call.
fn break_lines(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let list = *random.pick(index.of_kind(kinds().argument_list))?;
    let own = index.item(list);
    let mut text = index.text[..own.start].to_owned();
    let mut at = own.start;
    let comment = *random.pick(&["", "  # why", "  # 変", " \t"])?;
    for part in index.parts(list) {
        let part = index.item(part);
        text += &format!("{}{comment}\n            ", index.text.get(at..part.start)?.trim_end());
        text += index.text.get(part.start..part.end)?;
        at = part.end;
    }
    Some(text + index.text.get(at..)?)
}

fn string(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let own = index.item(*random.pick(index.of_kind(kinds().string))?);
    let inner = index.text.get(own.start..own.end)?.trim_matches(['"', '\'']);
    let (head, tail) = inner.split_at(inner.char_indices().nth(1).map_or(inner.len(), |(at, _)| at));
    let form = match random.below(12) {
        0 => format!("'{inner}'"),
        1 => format!("\"\"\"{inner}\"\"\""),
        2 => format!("r\"{inner}\""),
        3 => format!("b'{inner}'"),
        4 => format!("f\"{inner}\""),
        5 => format!("f\"{head}{{tail}}\""),
        6 => format!("(\"{head}\" \"{tail}\")"),
        7 => format!("(\"{head}\"\n    '{tail}')"),
        8 => format!("\"{inner}\".format(0)"),
        9 => format!("\"{head}\" + \"{tail}\""),
        10 => format!("\"{inner}:%d\" % rank"),
        _ => "\"cuda:0\"".to_owned(),
    };
    replaced(index.text, own.start..own.end, &form)
}

const NAMES: &[&str] =
    &["model", "net", "größe", "変数", "µ", "ﬁt", "_", "__x", "torch", "cuda", "device", "self", "match", "print"];

/// One name is replaced by another everywhere.
fn rename(index: &Index<'_>, other: &Index<'_>, random: &mut Random) -> Option<String> {
    let names = index.of_kind(kinds().identifier);
    let old = index.text_of(*random.pick(names)?);
    let new = a_name(other, random)?;
    let (mut text, mut at) = (String::new(), 0);
    for own in names.iter().map(|id| index.item(*id)).filter(|own| &index.text[own.start..own.end] == old) {
        text += index.text.get(at..own.start)?;
        text += new;
        at = own.end;
    }
    Some(text + &index.text[at..])
}

/// One name is replaced by another in one place.
fn other_name(index: &Index<'_>, other: &Index<'_>, random: &mut Random) -> Option<String> {
    let own = index.item(*random.pick(index.of_kind(kinds().identifier))?);
    replaced(index.text, own.start..own.end, a_name(other, random)?)
}

fn a_name<'t>(other: &Index<'t>, random: &mut Random) -> Option<&'t str> {
    if random.one_in(3) {
        return random.pick(NAMES).copied();
    }
    random.pick(other.of_kind(kinds().identifier)).map(|id| other.text_of(*id))
}

fn assignment(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let own = index.item(*random.pick(index.of_kind(kinds().assignment))?);
    let (left, right) = index.text.get(own.start..own.end)?.split_once('=')?;
    let (left, right) = (left.trim(), right.trim());
    let form = match random.below(9) {
        0 => format!("{left}: Any = {right}"),
        1 => format!("{left} = again = {right}"),
        2 => format!("{left}, rest = {right}, 0"),
        3 => format!("{left} += {right}"),
        4 => right.to_owned(),
        5 => format!("self.{left} = {right}"),
        6 => format!("[{left}] = [{right}]"),
        7 => format!("{left}=\\\n    {right}"),
        _ => format!("({left}) = ({right})"),
    };
    replaced(index.text, own.start..own.end, &form)
}

fn import(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let line = *random.pick(&[
        "import torch as t\n",
        "from torch import *\n",
        "from torch import nn, optim\n",
        "import torch.cuda\n",
        "from torch import cuda, device as d\n",
        "import torch, os\n",
        "from torch.cuda.amp import (\n    autocast as ac,  # why\n    GradScaler,\n)\n",
        "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
        "from . import torch\n",
        "from __future__ import annotations\n",
        "\"\"\"Doc.\"\"\"\n",
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n",
        "\u{feff}",
        "device = 'cuda'\n",
        "torch = model = None\n",
    ])?;
    let k = kinds();
    let imports = [index.of_kind(k.import_statement), index.of_kind(k.import_from_statement)].concat();
    match random.pick(&imports) {
        Some(id) if random.one_in(2) => replaced(index.text, index.range(*id), line.trim_end()),
        _ => Some(format!("{line}{}", index.text)),
    }
}
