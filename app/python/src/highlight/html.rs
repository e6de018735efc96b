//! Spans as HTML.

use super::{Highlight, TokenClass};

/// Python source as HTML, one string per line, without line endings. Every coloured span is a `<b class=h?>`, see
/// [`TokenClass::css`]: a page of code has thousands of them, so they are short.
pub fn highlight_html(text: &str) -> Vec<String> {
    let highlight = Highlight::python(text);
    let lines = text.split_inclusive('\n').enumerate();
    lines.map(|(index, line)| html_line(line, highlight.line(index), &[], &[])).collect()
}

/// One line as HTML: colours from packed spans, and `marks` (byte ranges, in order, such as the words of a
/// [`Pair`](crate::Pair)) as `<mark>`. A mark may cross spans; it is split at their boundaries so that tags nest.
/// `breaks` are the bytes before which the line may be wrapped.
pub fn html_line(line: &str, spans: &[u32], marks: &[(u32, u32)], breaks: &[usize]) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    let mut out = String::with_capacity(line.len() * 2);
    let mut at = 0;
    let mut marks = marks.iter().copied().peekable();
    let mut breaks = breaks.iter().copied().peekable();
    let mut text = |out: &mut String, from: usize, to: usize| {
        let mut from = from;
        while from < to {
            if breaks.next_if(|at| *at <= from).is_some() {
                out.push_str("<wbr>");
            }
            while marks.next_if(|mark| mark.1 as usize <= from).is_some() {}
            let mark = marks.peek().map(|mark| (mark.0 as usize, mark.1 as usize));
            let (inside, stop) = match mark {
                Some((start, end)) if start <= from => (true, end.min(to)),
                Some((start, _)) => (false, start.min(to)),
                None => (false, to),
            };
            let stop = breaks.peek().map_or(stop, |at| stop.min(*at));
            out.push_str(if inside { "<mark>" } else { "" });
            escape(out, line.get(from..stop).unwrap_or(""));
            out.push_str(if inside { "</mark>" } else { "" });
            from = stop;
        }
    };
    for span in spans.chunks_exact(3) {
        let (start, end) = ((span[0] as usize).min(line.len()), (span[1] as usize).min(line.len()));
        text(&mut out, at, start);
        match TokenClass::from_number(span[2]) {
            Some(class) => {
                out.push_str("<b class=");
                out.push_str(class.css());
                out.push('>');
                text(&mut out, start, end);
                out.push_str("</b>");
            }
            None => text(&mut out, start, end),
        }
        at = end;
    }
    text(&mut out, at, line.len());
    out
}

/// For text between tags, where a quotation mark needs no escape.
fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{feff}' => {}
            c => out.push(c),
        }
    }
}
