//! Syntax colours of any text: the HTML lines contain the text, and tags are closed.

use super::{Mutator, Target, Ways};
use crate::fuzz::seeds;
use python::highlight_html;

pub(super) const TARGET: Target =
    Target { name: "highlight", check, seeds: seeds::programs, mutator: Mutator::Program, short: 150 };

fn check(input: &[u8], _: Ways) {
    let text = String::from_utf8_lossy(input).into_owned();
    let lines = highlight_html(&text);
    let own: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), own.len(), "as many lines");
    for (html, own) in lines.iter().zip(own) {
        let (mut said, mut open) = (String::new(), 0_i32);
        let mut rest = html.as_str();
        while let Some((before, tag)) = rest.split_once('<') {
            said += before;
            let (tag, behind) = tag.split_once('>').expect("a tag ends");
            open += if tag.starts_with('/') { -1 } else { 1 };
            assert!(open >= 0, "an end without its beginning: {html}");
            rest = behind;
        }
        said += rest;
        assert_eq!(open, 0, "a tag is left open: {html}");
        let said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        // A byte order mark has no width and no colour.
        assert_eq!(said, own.trim_end_matches(['\n', '\r']).replace('\u{feff}', ""), "the words of the line");
    }
}
