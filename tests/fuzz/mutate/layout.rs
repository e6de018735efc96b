//! Changes of a program's formatting.

use super::{Change, replaced};
use crate::fuzz::random::Random;
use python::Index;

pub(super) const CHANGES: &[Change] =
    &[line_ends, tabs, narrow, comment, comment, word, cut, tail, spaces, odd_character];

fn line_ends(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let text = index.text.replace("\r\n", "\n");
    Some(match random.below(4) {
        0 | 1 => text.replace('\n', "\r\n"),
        2 => text.replace('\n', "\r"),
        _ => text
            .split_inclusive('\n')
            .map(|line| if random.one_in(4) { line.replace('\n', "\r\n") } else { line.to_owned() })
            .collect(),
    })
}

/// The white space before each line, and the rest of it.
fn indents(text: &str, mut new: impl FnMut(&str) -> String) -> String {
    let own = text.split_inclusive('\n').map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        new(&line[..line.len() - rest.len()]) + rest
    });
    own.collect()
}

fn tabs(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let all = !random.one_in(4);
    Some(indents(
        index.text,
        |indent| if all || random.one_in(2) { indent.replace("    ", "\t") } else { indent.to_owned() },
    ))
}

fn narrow(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let new = *random.pick(&[" ", "  ", "   ", "        "])?;
    Some(indents(index.text, |indent| indent.replace("    ", new)))
}

fn comment(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let lines: Vec<&str> = index.text.split_inclusive('\n').collect();
    let at = random.below(lines.len());
    let line = *lines.get(at)?;
    let new = match random.below(6) {
        0 => format!("# why\n{line}"),
        1 => format!("{line}        # deeper\n"),
        2 => format!("{}  # warum, größer: 変\n", line.trim_end()),
        3 => format!("\n\n{line}"),
        4 => format!("{}  # type: ignore; .cuda()\n", line.trim_end()),
        _ => format!("{}#why\n{line}", &line[..line.len() - line.trim_start().len()].trim_matches('\n')),
    };
    let start: usize = lines[..at].iter().map(|line| line.len()).sum();
    replaced(index.text, start..start + line.len(), &new)
}

/// A word, a number or a sign is removed or duplicated.
fn word(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let start = (0..index.text.len()).nth(random.below(index.text.len()))?;
    let own = |c: char| c.is_alphanumeric() || c == '_';
    let rest = index.text.get(start..)?;
    let end = start + rest.find(|c| !own(c)).filter(|at| *at > 0).unwrap_or(rest.chars().next()?.len_utf8());
    let again = index.text[start..end].repeat(2);
    replaced(index.text, start..end, if random.one_in(2) { "" } else { &again })
}

fn cut(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    if !random.one_in(8) {
        return None;
    }
    index.text.get(..random.below(index.text.len())).map(str::to_owned)
}

fn tail(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let end = *random.pick(&["", "\n\n\n", "\\\n", "  ", "\n    ", "# end", "\u{c}\n", ";", "\r", "\r\n"])?;
    Some(index.text.trim_end().to_owned() + end)
}

fn spaces(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let at = index.text.match_indices(' ').map(|(at, _)| at).collect::<Vec<_>>();
    let at = *random.pick(&at)?;
    replaced(index.text, at..at + 1, random.pick(&["", "  ", "\t", " \\\n", "\u{a0}", "\u{c}", "\n"])?)
}

fn odd_character(index: &Index<'_>, _: &Index<'_>, random: &mut Random) -> Option<String> {
    let at = random.below(index.text.len() + 1);
    let odd = [
        "\u{feff}", "\0", "é", "变", "🦀", "e\u{301}", "\u{2028}", "\u{85}", "\u{1a}", "µ", "$", "?", "!", "`",
        "\u{200b}", "\\", "\"", "'''", "(", "]", "{",
    ];
    replaced(index.text, at..at, random.pick(&odd)?)
}
