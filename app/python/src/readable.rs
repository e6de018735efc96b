//! Python that the grammar can't parse, rewritten so that it can.
//!
//! Lines inside brackets may be to the left of their block. Python ignores indentation there; the grammar's scanner
//! does not where no bracket can close, and interprets such a line as the end of the block:
//!
//! ```python
//! def f():
//!     return (a if b
//! # why
//!             else c)
//! ```
//!
//! At every comment line it looks ahead to the next code, so the time for many of them is quadratic.
//!
//! In an annotation it takes a name with a subscript for a type, which no operator, call or other subscript can follow:
//! `x: T[int] or int`, `-> T[int](3)`. Such a subscript is read as a call. Nor does a type have slices, `x: T[:]`; such a
//! slice is read as an operation.
//!
//! A tab leads to the next multiple of eight columns, but the scanner counts eight for each. So a tab that is worth one, after
//! seven spaces, is read as a space.
//!
//! After a name in a formatted string it takes `:=` for an assignment, where Python begins a format: `f"{title:=^80}"`.
//!
//! It has no defaults of type parameters: `class A[T = int]`. Such a default is read as a further parameter.
//!
//! In a tuple without brackets and in a subscript it only accepts starred parts that begin with a name: `return a, *b`, but not
//! `return a, *[b]` nor `x[a, *(b)]`.

/// Consecutive comment lines that are read as one comment.
const MANY: usize = 32;

/// The text with such comments joined, with every byte at its offset; none if there are not that many.
pub(crate) fn joined_comments(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |n| at + n);
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < bytes.len() {
        let (first, margin) = next_code(bytes, at);
        let (mut count, mut end) = (0, first);
        // One further to the left belongs to another block.
        let mut next = (first, margin);
        while bytes.get(next.0) == Some(&b'#') && next.1 >= margin {
            (count, end) = (count + 1, line_end(next.0));
            next = next_code(bytes, end);
        }
        if count > MANY {
            let out = out.get_or_insert_with(|| bytes.to_vec());
            out[first..end].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        }
        at = line_end(end) + 1;
    }
    out.and_then(|out| String::from_utf8(out).ok())
}

/// The text with spaces for such tabs in indentations; none if there are none.
pub(crate) fn spaced_tabs(text: &str) -> Option<String> {
    let is_worth_spaces = |indentation: &str| {
        indentation.bytes().enumerate().all(|(at, byte)| byte == b' ' || byte == b'\t' && at % 8 == 7)
    };
    if !text.contains("       \t") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let code = line.trim_start_matches([' ', '\t']);
        let indentation = &line[..line.len() - code.len()];
        let spaced = indentation.replace('\t', " ");
        out += if is_worth_spaces(indentation) { &spaced } else { indentation };
        out += code;
    }
    (out != text).then_some(out)
}

/// The text in a form that the grammar can parse, with every byte at its offset: such a line joined to the one before
/// it, such a star or sign removed. None if there is none.
pub(crate) fn readable(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out: Option<Vec<u8>> = None;
    // Open brackets, and the indentation of the statement that contains them.
    let (mut open, mut block) = (Vec::new(), 0);
    let (mut at, mut line_begins, mut after_comment) = (0, true, false);
    while at < bytes.len() {
        if line_begins && open.is_empty() {
            let (code, indent) = next_code(bytes, at);
            (at, block, line_begins) = (code, indent, false);
            continue;
        }
        match bytes[at] {
            b'#' => {
                at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
                after_comment = true;
                continue;
            }
            b'"' | b'\'' => {
                let (end, formats) = read_string(bytes, at);
                for colon in formats {
                    out.get_or_insert_with(|| bytes.to_vec())[colon + 1] = b' ';
                }
                at = end;
                continue;
            }
            b'(' | b'[' | b'{' => open.push(at),
            b')' | b']' | b'}' => drop(open.pop()),
            // A line after a backslash does not begin a statement.
            b'\\' => at += 1 + usize::from(bytes[at + 1..].starts_with(b"\r")),
            // The default of a type parameter is read as a further parameter.
            b'=' if open.last().is_some_and(|open| begins_default(text, *open, at)) => {
                out.get_or_insert_with(|| bytes.to_vec())[at] = b',';
            }
            b'*' if open.last().is_none_or(|open| subscripts(text, *open)) && stars_no_name(text, at) => {
                out.get_or_insert_with(|| bytes.to_vec())[at] = b' ';
            }
            b'\n' if open.is_empty() => (line_begins, after_comment) = (true, false),
            b'\n' => {
                let (next, indent) = next_code(bytes, at + 1);
                // A comment can be joined with a comment after it, but not with code.
                if indent < block && (!after_comment || bytes.get(next) == Some(&b'#')) {
                    let out = out.get_or_insert_with(|| bytes.to_vec());
                    out[at..next].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
                } else {
                    after_comment = false;
                }
                at = next;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    out.and_then(|out| String::from_utf8(out).ok())
}

/// The text with such subscripts of annotations as calls and without slices in them, with every byte at its offset; none if
/// the tree has an error at none of them. A tree with errors names some at a time.
pub(crate) fn called_subscripts(text: &str, tree: &tree_sitter::Tree) -> Option<String> {
    let mut out = text.as_bytes().to_vec();
    let mut done = 0;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        // What lacks in a bound is in the `type` of a `constrained_type` of a `type` of the subscript.
        let mut around = std::iter::successors(Some(node), |node| node.parent()).take(5).map(|node| node.start_byte());
        if node.kind() == "generic_type" && is_beside_error(node) {
            let subscript = node.named_child(1).map(|subscript| subscript.start_byte());
            if let Some(start) = subscript.filter(|start| text[*start..].starts_with('['))
                && read_as_operations(text, start, &mut out) == node.end_byte()
            {
                (out[start], out[node.end_byte() - 1]) = (b'(', b')');
            }
        } else if (node.is_error() || node.is_missing())
            && let Some(start) = around.find(|at| text[*at..].starts_with('[')).filter(|start| *start >= done)
        {
            done = read_as_operations(text, start, &mut out);
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        while cursor.goto_parent() && !cursor.goto_next_sibling() {}
        if cursor.depth() == 0 {
            return String::from_utf8(out).ok().filter(|out| out != text);
        }
    }
}

/// Makes operations of the slices in the brackets at `start`, of `[a:b, c:, :d, :]` `[a|b, c , -d, 0]`; where the brackets
/// end.
fn read_as_operations(text: &str, start: usize, out: &mut [u8]) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut follows_operand) = (0_usize, false);
    let mut code = code(&bytes[start..]).map(|at| start + at).filter(|at| !bytes[*at].is_ascii_whitespace()).peekable();
    while let Some(at) = code.next() {
        match bytes[at] {
            b'(' | b'[' | b'{' => {
                follows_operand = depth > 0;
                depth += 1;
            }
            b')' | b']' | b'}' if depth == 1 => return at + 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 1 => follows_operand = false,
            // `name := value`, and the colon behind the parameters of a lambda.
            b':' if depth == 1 && bytes.get(at + 1) == Some(&b'=') => {
                code.next();
            }
            b'l' if depth == 1 && begins_lambda(text, at) => {
                follows_operand = true;
                let mut inside = 0_usize;
                while let Some(next) = code.next_if(|next| bytes[*next] != b':' || inside > 0) {
                    match bytes[next] {
                        b'(' | b'[' | b'{' => inside += 1,
                        b')' | b']' | b'}' => inside = inside.saturating_sub(1),
                        _ => {}
                    }
                }
                code.next();
            }
            b':' if depth == 1 => {
                let precedes_operand = code.peek().is_some_and(|next| !b":,]".contains(&bytes[*next]));
                out[at] = match (follows_operand, precedes_operand) {
                    (true, true) => b'|',
                    (true, false) => b' ',
                    (false, true) => b'-',
                    (false, false) => b'0',
                };
                follows_operand = true;
            }
            _ => follows_operand |= depth == 1,
        }
    }
    text.len()
}

fn begins_lambda(text: &str, at: usize) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let rest = text[at..].strip_prefix("lambda");
    rest.is_some_and(|rest| !rest.starts_with(is_part)) && !text[..at].ends_with(is_part)
}

/// Whether the annotation that a type is in, or the parameter or statement with it, is in an error or next to one.
fn is_beside_error(node: tree_sitter::Node<'_>) -> bool {
    let parts =
        ["generic_type", "type", "union_type", "member_type", "constrained_type", "typed_parameter", "assignment"];
    let mut part = Some(node);
    while let Some(node) = part {
        let around = [node.parent(), node.next_sibling(), node.prev_sibling()];
        if around.into_iter().flatten().any(|node| node.is_error()) {
            return true;
        }
        // What follows the annotation may be read as a statement of its own: `if a else b`.
        if node.kind() == "expression_statement" && node.next_sibling().is_some_and(|next| next.has_error()) {
            return true;
        }
        part = node.parent().filter(|_| parts.contains(&node.kind()));
    }
    false
}

/// Whether a star is before a part of a tuple that does not begin with a name.
fn stars_no_name(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let begins = before.trim_end().ends_with([',', '=', '[']) || ["return", "yield", "in"].contains(&word);
    let part = text[at + 1..].trim_start_matches([' ', '\t']);
    let awaits = part.strip_prefix("await").is_some_and(|rest| rest.starts_with([' ', '(']));
    begins && (awaits || part.starts_with(|c: char| "([{\"'-+~".contains(c) || c.is_ascii_digit()))
}

/// Whether an equals sign is behind a type parameter, or behind its bound: `T = int`, `*T = …`, `T: int = bool`.
fn begins_default(text: &str, open: usize, at: usize) -> bool {
    let is_default = !text[..at].ends_with(['=', '!', '<', '>', ':']) && !text[at + 1..].starts_with('=');
    if !is_default || !has_type_parameters(text, open) {
        return false;
    }
    let (mut depth, mut start, mut is_only) = (0_usize, open + 1, true);
    for place in code(&text.as_bytes()[open + 1..at]).map(|place| open + 1 + place) {
        match text.as_bytes()[place] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => (start, is_only) = (place + 1, true),
            b'=' if depth == 0 => is_only = false,
            _ => {}
        }
    }
    let parameter = text[start..at].trim().trim_start_matches('*');
    let name = parameter.split_once(':').map_or(parameter, |(name, _)| name).trim();
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_only && is_name && !text[at + 1..].trim_start().starts_with([',', ']'])
}

/// Whether a bracket begins the type parameters of a class, a function or a type.
fn has_type_parameters(text: &str, at: usize) -> bool {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let before = text[..at].trim_end_matches(is_blank);
    let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let word = name.trim_end_matches(is_blank);
    let keyword = word.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    text[at..].starts_with('[')
        && name.len() < before.len()
        && word.len() < name.len()
        && ["class", "def", "type"].contains(&keyword)
}

/// Whether a bracket is that of a subscript.
fn subscripts(text: &str, at: usize) -> bool {
    const BEFORE_LISTS: [&str; 12] =
        ["return", "yield", "in", "and", "or", "not", "if", "else", "elif", "while", "is", "assert"];
    let before = text[..at].trim_end_matches([' ', '\t']);
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let follows_value = !word.is_empty() || before.ends_with(|c: char| ")]}\"'".contains(c));
    text[at..].starts_with('[') && follows_value && !BEFORE_LISTS.contains(&word)
}

/// The first byte from `at`, the start of a line, that is not white space, and its column as the scanner counts it.
fn next_code(bytes: &[u8], mut at: usize) -> (usize, usize) {
    let mut indent = 0;
    while let Some(byte) = bytes.get(at) {
        indent = match byte {
            b' ' => indent + 1,
            b'\t' => indent + 8,
            b'\n' | b'\r' | 0xc => 0,
            _ => break,
        };
        at += 1;
    }
    (at, indent)
}

/// The byte after the string that begins with the quote at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    read_string(bytes, at).0
}

/// The same, and the formats in it that begin with `=`, by their colons: `f"{title:=^80}"`.
fn read_string(bytes: &[u8], at: usize) -> (usize, Vec<usize>) {
    let mut formats = Vec::new();
    let end = string_end_at(bytes, at, DEEPEST_FIELD, &mut formats);
    (end.unwrap_or_else(|| string_end_at(bytes, at, 0, &mut formats).unwrap_or(bytes.len())), formats)
}

/// How deep CPython nests formatted strings.
const DEEPEST_FIELD: usize = 150;

/// The same, where the fields of formatted strings are read as deep as this; none if one of them does not end.
fn string_end_at(bytes: &[u8], at: usize, deepest: usize, formats: &mut Vec<usize>) -> Option<usize> {
    let quote = bytes[at];
    let three = [quote; 3];
    let long = bytes[at..].starts_with(&three);
    let has_fields = deepest > 0 && is_formatted(bytes, at);
    let mut at = at + if long { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' if has_fields && bytes.get(at + 1) == Some(&b'{') => at += 1,
            b'{' if has_fields => {
                at = field_end(bytes, at, long, deepest - 1, formats)?;
                continue;
            }
            b'\n' if !long => return Some(at),
            _ if long && bytes[at..].starts_with(&three) => return Some(at + 3),
            _ if !long && byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    Some(bytes.len())
}

/// Whether the quote at `at` begins a string with fields: `f"{x}"`, `rf"{x}"`, `t"{x}"`.
fn is_formatted(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let prefix = bytes[..at].iter().rev().take(3).take_while(|byte| is_word(byte));
    let prefix: Vec<u8> = prefix.map(u8::to_ascii_lowercase).collect();
    matches!(prefix.as_slice(), [b'f' | b't'] | [b'r', b'f' | b't'] | [b'f' | b't', b'r'])
}

/// The byte after the field of a formatted string that begins with the bracket at `at`; none if it does not end, on its line
/// if the string is not a `long` one. Strings in it may have the quotes of the one around it, as of Python 3.12.
fn field_end(bytes: &[u8], at: usize, long: bool, deepest: usize, formats: &mut Vec<usize>) -> Option<usize> {
    let (mut open, mut at, mut is_format) = (0_usize, at, false);
    loop {
        match bytes.get(at)? {
            b'\n' if !long => return None,
            b'{' | b'(' | b'[' if !is_format => open += 1,
            b'{' => at = field_end(bytes, at, long, deepest.checked_sub(1)?, formats)? - 1,
            b'}' if open == 1 => return Some(at + 1),
            b'}' | b')' | b']' if !is_format => open = open.checked_sub(1)?,
            b':' if open == 1 => {
                is_format = true;
                formats.extend((bytes.get(at + 1) == Some(&b'=')).then_some(at));
            }
            b'"' | b'\'' if !is_format => at = string_end_at(bytes, at, deepest, formats)? - 1,
            _ => {}
        }
        at += 1;
    }
}

/// The innermost bracket that is still open at the end of the text; none if a bracket of another kind closes one.
#[must_use]
pub fn open_bracket(text: &str) -> Option<usize> {
    open_brackets(text)?.pop()
}

/// The brackets that are still open at the end of the text; none if a bracket closes none, or one of another kind.
pub(crate) fn open_brackets(text: &str) -> Option<Vec<usize>> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    for at in code(bytes) {
        match bytes[at] {
            b'(' | b'[' | b'{' => open.push(at),
            closing @ (b')' | b']' | b'}') => {
                let fits = |at: usize| matches!((bytes[at], closing), (b'(', b')') | (b'[', b']') | (b'{', b'}'));
                open.pop().filter(|at| fits(*at))?;
            }
            _ => {}
        }
    }
    Some(open)
}

/// The number of bytes up to the end of the last line of the statement at the start.
pub(crate) fn statement_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    for at in code(bytes) {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

/// The places of the bytes outside strings and comments, without those after a backslash: such a line goes on.
pub(crate) fn code(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let now = at;
            match bytes.get(now)? {
                b'#' => at += bytes[now..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - now),
                b'"' | b'\'' => at = string_end(bytes, now),
                b'\\' => at += 2 + usize::from(bytes[now + 1..].starts_with(b"\r\n")),
                _ => {
                    at += 1;
                    return Some(now);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(readable(text).as_deref(), expected);
        let tree = Tree::parse(text);
        assert!(!tree.has_error() && tree.text() == text, "{text}");
    }

    #[test]
    fn a_line_left_of_its_block_is_joined() {
        check(
            "def f():\n    x = (a if b\n# c\n      else d)\n",
            Some("def f():\n    x = (a if b # c\n      else d)\n"),
        );
        check("def f():\n    x = (a if b\n\n  else d)\n", Some("def f():\n    x = (a if b    else d)\n"));
        check(
            "def f():\n    x = [y for y  # c\n# d\n      in z]\n",
            Some("def f():\n    x = [y for y  # c # d\n      in z]\n"),
        );
    }

    #[test]
    fn a_tab_that_is_worth_a_space_is_read_as_one() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(spaced_tabs(text).as_deref(), expected);
            let tree = Tree::parse(text);
            assert!(!tree.has_error() && tree.text() == text, "{text}");
        };
        check(
            "if a:\n        if b:\n            c\n       \t    d\n\n       \te\n",
            Some("if a:\n        if b:\n            c\n            d\n\n        e\n"),
        );
        check("if a:\n\tif b:\n\t\tc\n\td = '       \t'\n", None);
        assert!(Tree::parse("if a:\n        b\n\tc\n").has_error(), "Python says that tabs are inconsistent");
    }

    #[test]
    fn a_star_before_no_name_is_left_out() {
        check("def f():\n    return a, *(b for b in c)\n", Some("def f():\n    return a,  (b for b in c)\n"));
        check("x = *[a], *b, *await c\n", Some("x =  [a], *b,  await c\n"));
        check("x[a, *(b)] = y[*[a], *c]\n", Some("x[a,  (b)] = y[ [a], *c]\n"));
        check("x[\n    a,\n    *[\n        b\n    ],\n] = 3\n", Some("x[\n    a,\n     [\n        b\n    ],\n] = 3\n"));
        check("x = a, *b.c(), 2 ** (3), f(*(d)), [1, *(e)]\nfrom a import *\n", None);
    }

    #[test]
    fn a_format_may_begin_with_a_sign_of_equality() {
        check("print(f\"{title:=^80}\")\n", Some("print(f\"{title: ^80}\")\n"));
        check("x = f'{x:=+{w:=>3}}' f'{(y:=3)}'\n", Some("x = f'{x: +{w: >3}}' f'{(y:=3)}'\n"));
        check("x = f'{(y:=3):=^9}' '{x:=^9}'\n", Some("x = f'{(y:=3): ^9}' '{x:=^9}'\n"));
    }

    #[test]
    fn type_parameters_with_defaults() {
        let check = |text: &str| assert!(!crate::Tree::parse(text).has_error(), "{text}");
        check("class A[T = int, *U = *tuple[int, ...], **P = [int, str]](B[T], c=1):\n    x = 1\n");
        check("def f[T: int = bool](x: T = 3, *, y=[1]) -> T:\n    return g[T](x=1)\n");
        check("async def f [T=(int)] (): pass\ntype X[T = list[int]] = list[T]\n");
        check("class A[T = (a <= b), U: (int, str) = a != b]: pass\n");
        let invalid = ["class A[T = ]: pass\n", "type [x = 1]\n", "f[x = 1]\n", "class A[T = int = str]: pass\n"];
        for text in invalid.into_iter().chain(["class A[1 = int]: pass\n", "class A[T.x = int]: pass\n"]) {
            assert!(crate::Tree::parse(text).has_error(), "{text}");
        }
    }

    #[test]
    fn an_annotation_goes_on_after_a_subscript() {
        let check = |text: &str| {
            for text in [text.to_owned(), format!("class A:\n    def f(self):\n        return a, *[b]\n{text}")] {
                let tree = Tree::parse(&text);
                assert!(!tree.has_error() && tree.text() == text, "{text}");
            }
        };
        for rest in [
            "or int",
            "if a else b",
            "and b",
            "+ b",
            "[str]",
            "(3)",
            "== 3",
            "in b",
            "| None or c",
            ".d or c",
            "is not e",
        ] {
            check(&format!("def f(x: T[int] {rest}): pass\n"));
            check(&format!("def f(x: T[int] {rest} = T[3] or 4, *y: U[a, *b], z: V[W[a] {rest}] = 3): pass\n"));
            check(&format!("def f(x) -> T[int] {rest}: pass\n"));
            check(&format!("x: T[int] {rest} = 3\ny: T[U[int]] {rest}\n"));
        }
        check("def f(x: T[a] and T[b] or not T[c] < 3, y: U[a] or T[d]): pass\n");
        for slice in [":", "::", "1:", ":2", "1:2", "1:2:3", "::2", "1::2", ":, ::1, a", "a[1:]:, b", ":  # a\n"] {
            check(&format!("def f(x: T[{slice}]): pass\n"));
            check(&format!("def f(x: T[{slice}], y: int = 3, *z: U[{slice}]) -> V[{slice}]: pass\n"));
            check(&format!("x: T[{slice}] or U\ny: T[U[{slice}]] = 3\n"));
        }
        check("type X = T[int] or int\ndef f[T: A[int] or B](x): pass\n");
        check("x: T[a := 1] or b\n");
        check("y: T[lambda: 1] or c\n");
        check("y: T[lambda q, r=(s, 2): q] or c\n");
        for text in ["def f(x: T[int] or): pass\n", "x: T[int or int\n", "def f(x: T[int] int): pass\n"] {
            assert!(Tree::parse(text).has_error(), "{text}");
        }
    }

    #[test]
    fn the_fields_of_a_formatted_string_have_strings_of_their_own() {
        let check = |string: &str| {
            let text = format!("x: T[int] or int = 1\ny = {string}\n");
            assert!(!Tree::parse(&text).has_error(), "{text}");
            assert_eq!(string_end(string.as_bytes(), string.find(['"', '\'']).unwrap()), string.len(), "{string}");
        };
        for string in [
            r#"f"{s.replace("(", "")}""#,
            r#"rf'{a['(']}{{('"#,
            r#"f"{x:'>{w["("]}}""#,
            r#"f"""{a["("]
                :(}""""#,
            r#"f"{f"{f"{"("}"}"}""#,
            r#"f"{(lambda: {1: "}"})()!r:(}""#,
            r#"f"{x!r}(""#,
            r#""{(""#,
            r#"f"{a == "\"("}""#,
        ] {
            check(string);
        }
        for unfinished in ["f\"{a[\"", "f\"{(\"", "f\"{\"x\n"] {
            assert!(string_end(unfinished.as_bytes(), 1) <= unfinished.len());
        }
        let deep = "f\"{".repeat(10_000);
        assert!(string_end(deep.as_bytes(), 1) <= deep.len());
    }

    #[test]
    fn many_comments_are_one() {
        let check = |before: &str, count: usize, after: &str| {
            let text = format!("def f():\n{}{after}", before.repeat(count));
            let joined = joined_comments(&text);
            assert_eq!(joined.is_some(), count > MANY);
            let tree = Tree::parse(&text);
            assert!(!tree.has_error() && tree.text() == text, "{text}");
            let index = tree.index();
            assert_eq!(index.of_kind(crate::tree::kinds().comment).len(), if count > MANY { 1 } else { count });
            joined.unwrap_or(text)
        };
        assert_eq!(
            check("    # ä\r\n\n", 40, "    x()\n").lines().map(str::len).collect::<Vec<_>>(),
            [8, 40 * 11 - 3, 0, 7]
        );
        assert_eq!(check("    # b\n", 32, "    x()\n").lines().count(), 34);
        // A line further to the left ends the block.
        let text = format!("def f():\n    x\n{}{}y\n", "    # a\n".repeat(33), "  # b\n".repeat(33));
        assert_eq!(joined_comments(&text).map(|text| text.lines().count()), Some(5));
    }

    #[test]
    fn brackets_that_stay_open() {
        let check = |text: &str, expected: Option<usize>| assert_eq!(open_bracket(text), expected, "{text}");
        check("net = Net().cuda(\nfor x in loader:\n    f(x)\n", Some(16));
        check("a = [(1, 2), {3: '('\n", Some(13));
        check("a = '(' # (\nb = \"\"\"(\n\"\"\"\n", None);
        check("a = (1]\nb = (\n", None);
        check("a = 1)\n(", None);
    }

    #[test]
    fn what_the_grammar_reads_stays() {
        check("x = (a if b\n# c\nelse d)\n", None);
        check("def f():\n    x = '(' # (\n# c\n    y = \"\"\"(\n# d\n\"\"\"\n", None);
        check("def f():\n    x = a + \\\nb\n    y = (1,\n         2)\n", None);
    }
}
