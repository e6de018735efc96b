//! Changes of whole statements.

use super::{Change, replaced};
use crate::fuzz::random::Random;
use python::Index;
use python::tree::kinds;
use std::ops::Range;

pub(super) const CHANGES: &[Change] = &[
    delete,
    repeat,
    exchange,
    bring,
    bring,
    wrap,
    wrap,
    wrap,
    unwrap,
    on_one_line,
    join,
    comment_out,
    stand_in,
    both_branches,
];

/// Headers for a block, which is inserted at `{}`.
const WRAPS: &[&str] = &[
    "if flag:\n{}",
    "if not flag:\n{}",
    "if torch.cuda.is_available():\n{}",
    "if flag:\n    pass\nelse:\n{}",
    "if flag:\n    pass\nelif other:\n{}",
    "with scope() as s:\n{}",
    "with a(), b():\n{}",
    "try:\n{}finally:\n    pass\n",
    "try:\n{}except (RuntimeError, ValueError) as error:\n    print(error)\n",
    "try:\n    pass\nexcept Exception:\n{}",
    "for _ in range(2):\n{}",
    "for _ in range(2):\n    pass\nelse:\n{}",
    "while flag:\n{}",
    "def inner(*args, **kwargs):\n{}",
    "async def later(x: int = 1) -> None:\n{}",
    "@decorated\nclass Inner(Base):\n{}",
    "match flag:\n    case 1 | 2:\n        pass\n    case _:\n{}",
    "if __name__ == \"__main__\":\n{}",
];

/// The lines of a statement, or its bytes if it shares its lines with something else.
struct Statement {
    range: Range<usize>,
    /// The white space before it, if it has its lines to itself.
    indent: Option<String>,
    simple: bool,
}

fn statements(index: &Index<'_>) -> Vec<Statement> {
    let k = kinds();
    let holds = |kind: u16| kind == k.block || kind == k.module;
    let all = index.items.iter().skip(1).filter(|item| item.kind != k.comment && holds(index.kind(item.parent)));
    let compound = [
        k.if_statement,
        k.for_statement,
        k.while_statement,
        k.with_statement,
        k.try_statement,
        k.match_statement,
        k.function_definition,
        k.class_definition,
        k.decorated_definition,
    ];
    all.map(|item| {
        let text = index.text;
        let start = text[..item.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[item.end..].find('\n').map_or(text.len(), |at| item.end + at + 1);
        let (before, after) = (&text[start..item.start], text[item.end..end].trim());
        let alone = before.trim().is_empty() && (after.is_empty() || after.starts_with('#'));
        Statement {
            range: if alone { start..end } else { item.start..item.end },
            indent: alone.then(|| before.to_owned()),
            simple: !compound.contains(&item.kind),
        }
    })
    .collect()
}

/// Lines with different leading white space.
fn indented(lines: &str, old: &str, new: &str) -> String {
    let own = lines.split_inclusive('\n').map(|line| match line.strip_prefix(old) {
        Some(rest) if !rest.trim().is_empty() => format!("{new}{rest}"),
        _ => line.to_owned(),
    });
    let mut text: String = own.collect();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn delete(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    replaced(index.text, random.pick(&all)?.range.clone(), "")
}

fn repeat(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let Statement { range, indent, .. } = random.pick(&all)?;
    let own = index.text.get(range.clone())?;
    let between = if indent.is_some() { "" } else { "; " };
    replaced(index.text, range.clone(), &format!("{own}{between}{own}"))
}

fn exchange(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let (a, b) = (&random.pick(&all)?.range, &random.pick(&all)?.range);
    let (a, b) = if a.start < b.start { (a, b) } else { (b, a) };
    let between = index.text.get(a.end..b.start)?;
    let (first, second) = (index.text.get(a.clone())?, index.text.get(b.clone())?);
    replaced(index.text, a.start..b.end, &format!("{second}{between}{first}"))
}

/// A statement of this program or of the other is inserted before one of this.
fn bring(index: &Index<'_>, other: &Index<'_>, random: &mut Random) -> Option<String> {
    let from = if random.one_in(3) { index } else { other };
    let brought = statements(from);
    let Statement { range, indent, .. } = random.pick(&brought)?;
    let own = from.text.get(range.clone())?;
    let all = statements(index);
    let there = random.pick(&all)?;
    let indented = indented(own, indent.as_deref().unwrap_or_default(), there.indent.as_deref()?);
    replaced(index.text, there.range.start..there.range.start, &indented)
}

/// A few consecutive statements are moved into a block.
fn wrap(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let first = random.pick(&all)?;
    let indent = first.indent.as_deref()?;
    let siblings = all.iter().filter(|next| next.range.start >= first.range.start && next.indent == first.indent);
    let mut end = first.range.end;
    for next in siblings.skip(1).take(random.below(3)) {
        let gap = index.text.get(end..next.range.start)?;
        if !gap.trim().is_empty() {
            break;
        }
        end = next.range.end;
    }
    let block = index.text.get(first.range.start..end)?;
    let (before, after) = random.pick(WRAPS)?.split_once("{}")?;
    let deeper = if before.contains("    case _") { "        " } else { "    " };
    let block = indented(block, indent, &format!("{indent}{deeper}"));
    let (before, after) = (indented(before, "", indent), indented(after, "", indent));
    replaced(index.text, first.range.start..end, &format!("{before}{block}{}", if after == "\n" { "" } else { &after }))
}

/// A block replaces its statement.
fn unwrap(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let blocks = index.of_kind(kinds().block);
    let block = *random.pick(blocks)?;
    let own = index.item(block);
    let outer = index.item(own.parent);
    let line = |at: usize| index.text[..at].rfind('\n').map_or(0, |at| at + 1);
    let (old, new) = (&index.text[line(own.start)..own.start], &index.text[line(outer.start)..outer.start]);
    if !old.trim().is_empty() || !new.trim().is_empty() {
        return None;
    }
    let moved = indented(index.text.get(line(own.start)..own.end)?, old, new);
    replaced(index.text, line(outer.start)..outer.end, moved.trim_end())
}

/// `if flag: statement`.
fn on_one_line(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let one = random.pick(&all).filter(|one| one.simple)?;
    let indent = one.indent.as_deref()?;
    let own = index.text.get(one.range.clone())?.get(indent.len()..)?;
    let head = random.pick(&["if flag: ", "for _ in a: ", "with a: ", "while b: ", "if flag: pass\n{}else: "])?;
    replaced(index.text, one.range.clone(), &format!("{indent}{}{own}", head.replace("{}", indent)))
}

/// Two statements on one line.
fn join(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let at = random.below(all.len());
    let (a, b) = (all.get(at)?, all.get(at + 1)?);
    if !(a.simple && b.simple && a.indent.is_some() && a.indent == b.indent && a.range.end == b.range.start) {
        return None;
    }
    let (first, second) = (index.text.get(a.range.clone())?, index.text.get(b.range.clone())?);
    let between = random.pick(&["; ", ";", " ; "])?;
    replaced(index.text, a.range.start..b.range.end, &format!("{}{between}{}", first.trim_end(), second.trim_start()))
}

fn comment_out(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let one = random.pick(&all)?;
    let own = index.text.get(one.range.clone())?;
    let lines: String = own.split_inclusive('\n').map(|line| format!("# {line}")).collect();
    replaced(index.text, one.range.clone(), &lines)
}

fn stand_in(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let one = random.pick(&all)?;
    let indent = one.indent.as_deref()?;
    let own =
        random.pick(&["pass", "...", "return", "continue", "break", "raise", "global model", "del model", "yield"])?;
    replaced(index.text, one.range.clone(), &format!("{indent}{own}\n"))
}

/// The same in both branches of an `if`.
fn both_branches(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = statements(index);
    let one = random.pick(&all)?;
    let indent = one.indent.as_deref()?;
    let own = indented(index.text.get(one.range.clone())?, indent, &format!("{indent}    "));
    replaced(index.text, one.range.clone(), &format!("{indent}if flag:\n{own}{indent}else:\n{own}"))
}
