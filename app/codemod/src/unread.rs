//! Code that stands in strings, where no recipe finds it: cells of a notebook under a magic, as an exported notebook has them.

use crate::facts::FileView;
use crate::names::called_name;
use crate::order::sort_by_key;
use crate::tree::{Id, fields, kinds};
use std::ops::Range;

/// Magics that run the code behind them as the notebook's own. Others hand it to a shell, a browser or a file.
const RUN_AS_OWN: [&str; 7] = ["capture", "memit", "mprun", "prun", "time", "timeit", "lprun"];

/// A string with code that was not read.
pub(crate) struct Unread {
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
}

/// All of a file, in the order of the text.
pub(crate) fn unread(view: &FileView<'_>) -> Vec<Unread> {
    let index = &view.index;
    let of_ipython = |call: &Id| {
        let object = index.field(*call, fields().function).and_then(|f| index.field(f, fields().object));
        object.is_some_and(|o| index.kind(o) == kinds().call && called_name(index, o) == Some("get_ipython"))
    };
    let strings = |call: Id| {
        let parts = index.field(call, fields().arguments).into_iter().flat_map(|arguments| index.parts(arguments));
        parts.filter(|part| index.kind(*part) == kinds().string).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for (function, sign, code_at) in [("run_cell_magic", "%%", 2), ("run_line_magic", "%", 1)] {
        for call in view.calls(function).iter().copied().filter(of_ipython) {
            let strings = strings(call);
            let (Some(name), Some(code)) = (strings.first(), strings.get(code_at)) else { continue };
            let name = index.text_of(*name).trim_matches(['"', '\'']);
            let runs = RUN_AS_OWN.contains(&name) && !index.text_of(*code).trim_matches(['"', '\'']).trim().is_empty();
            let writes = name == "writefile" && index.text_of(strings[1]).contains(".py");
            if runs || writes {
                let remedy = if writes {
                    "Run the cell once and port the file it writes"
                } else {
                    "Take the magic off in the notebook, export it again and port that"
                };
                let message = format!("not read: the code of `{sign}{name}` stands in this string as text. {remedy}");
                found.push(Unread { range: index.range(*code), message });
            }
        }
    }
    sort_by_key(&mut found, |unread| unread.range.start);
    found
}
