//! Words of a line, the similarity of two lines, and which words changed.

use super::sequence::sequence_diff;
use similar::DiffOp;

/// A token: where it ends in the line, and a hash of its bytes. It starts where the one before ends.
#[derive(Clone, Copy, Debug)]
struct Token {
    end: u32,
    hash: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    Other,
}

fn class(c: char) -> Class {
    if c.is_alphanumeric() || c == '_' {
        Class::Word
    } else if c.is_whitespace() {
        Class::Space
    } else {
        Class::Other
    }
}

/// FNV-1a: the same in every run and on every machine.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Words and white space as runs, every other character separately. The `\n` at the end is not a token, a `\r` is.
fn tokens(line: &str) -> Vec<Token> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let mut tokens = Vec::with_capacity(line.len() / 3 + 1);
    let (mut start, mut run) = (0, Class::Other);
    let mut push = |from: usize, to: usize| {
        if from < to {
            tokens.push(Token { end: to as u32, hash: hash(&line.as_bytes()[from..to]) });
        }
    };
    for (at, c) in line.char_indices() {
        let this = if c == '\r' { Class::Other } else { class(c) };
        if this != run || this == Class::Other {
            push(start, at);
            (start, run) = (at, this);
        }
    }
    push(start, line.len());
    tokens
}

/// The tokens of two lines, with their common indentation as a separate token, so that a line that was indented shows
/// the added indentation, not a new one.
fn indented(old: &str, new: &str) -> (Vec<Token>, Vec<Token>) {
    let common = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b && matches!(a, b' ' | b'\t')).count();
    let with = |line: &str| {
        let mut tokens = tokens(line);
        if common > 0 && tokens.first().is_some_and(|first| first.end as usize > common) {
            tokens.insert(0, Token { end: common as u32, hash: 0 });
        } else if let Some(first) = tokens.first_mut().filter(|_| common > 0) {
            first.hash = 0;
        }
        tokens
    };
    (with(old), with(new))
}

/// The contents of a line without white space: sorted hashes, with words weighted more than signs.
pub(super) struct Bag {
    items: Vec<(u32, u32)>,
    weight: u32,
}

impl Bag {
    pub(super) fn of(line: &str) -> Bag {
        let mut start = 0;
        let mut items = Vec::new();
        for token in tokens(line) {
            let first = line[start..].chars().next().map_or(Class::Other, class);
            start = token.end as usize;
            match first {
                Class::Space => {}
                Class::Word => items.push((token.hash, 4)),
                Class::Other => items.push((token.hash, 1)),
            }
        }
        sorting::plain(&mut items);
        let weight = items.iter().map(|item| item.1).sum();
        Bag { items, weight }
    }

    /// 0 for nothing in common, 1000 for the same words and signs (in whatever order).
    pub(super) fn likeness(&self, other: &Bag) -> u32 {
        if self.weight + other.weight == 0 {
            return 1000;
        }
        let (mut a, mut b, mut common) = (self.items.iter().peekable(), other.items.iter().peekable(), 0);
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.0.cmp(&y.0) {
                std::cmp::Ordering::Less => drop(a.next()),
                std::cmp::Ordering::Greater => drop(b.next()),
                std::cmp::Ordering::Equal => {
                    common += x.1;
                    a.next();
                    b.next();
                }
            }
        }
        (2000 * u64::from(common) / u64::from(self.weight + other.weight)) as u32
    }
}

/// If there are more tokens than this, only the common beginning and end of a line are left unmarked.
const LONG: usize = 2_000;

type Spans = Vec<(u32, u32)>;

/// Byte ranges that changed in each of the two lines.
pub(super) fn changed_words(old: &str, new: &str) -> (Spans, Spans) {
    let (a, b) = indented(old, new);
    let prefix = a.iter().zip(&b).take_while(|(x, y)| x.hash == y.hash).count();
    let rest = a.len().min(b.len()) - prefix;
    let suffix = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(x, y)| x.hash == y.hash).count();
    let (mut spans_a, mut spans_b) = (Vec::new(), Vec::new());
    let (ma, mb) = (prefix..a.len() - suffix, prefix..b.len() - suffix);
    if ma.is_empty() || mb.is_empty() || ma.len() > LONG || mb.len() > LONG {
        push(&mut spans_a, &a, ma.start, ma.end);
        push(&mut spans_b, &b, mb.start, mb.end);
    } else {
        let hashes = |tokens: &[Token]| tokens.iter().map(|t| t.hash).collect::<Vec<_>>();
        for op in sequence_diff(&hashes(&a[ma]), &hashes(&b[mb])) {
            if !matches!(op, DiffOp::Equal { .. }) {
                let (o, n) = (op.old_range(), op.new_range());
                push(&mut spans_a, &a, o.start + prefix, o.end + prefix);
                push(&mut spans_b, &b, n.start + prefix, n.end + prefix);
            }
        }
    }
    (joined(old, spans_a), joined(new, spans_b))
}

fn push(spans: &mut Spans, tokens: &[Token], from: usize, to: usize) {
    if from < to {
        let start = from.checked_sub(1).map_or(0, |before| tokens[before].end);
        spans.push((start, tokens[to - 1].end));
    }
}

/// Joins ranges that are separated only by a sign or a space: one mark over `torch.hpu` is more readable than two.
/// Brackets are excluded, so that a mark doesn't contain half of a pair.
fn joined(line: &str, spans: Spans) -> Spans {
    let small =
        |gap: &str| gap.chars().count() <= 2 && !gap.contains(|c| class(c) == Class::Word || "()[]{}".contains(c));
    let mut out: Spans = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if small(&line[last.1 as usize..start as usize]) => last.1 = end,
            _ => out.push((start, end)),
        }
    }
    out
}
