//! The fields of a launch in an address: `#target=hpu&entry=bin/exec.py&args=mode%3Dtrain`. Field names are those of
//! the command, so other pages can write such links without this module.

use launch::form::Fields;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Characters that must be escaped in a value: those that end it, and those that browsers change in an address.
const SPECIAL: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'+').add(b'<').add(b'=').add(b'>').add(b'`');

/// The prefix of the fields if the whole site is one file: there, a fragment starts with its view.
const VIEW: &str = "launch?";

/// The prefix of this page's fragments, from the one with which it was opened.
pub fn view(fragment: &str) -> &'static str {
    if fragment.trim_start_matches('#').starts_with(VIEW) { VIEW } else { "" }
}

/// The fields as a fragment, without `#` and the view; empty fields are omitted.
pub fn write(fields: &Fields) -> String {
    let encode = |text: &str| utf8_percent_encode(text, SPECIAL).to_string();
    let pairs = fields.iter().filter(|(_, value)| !value.is_empty());
    pairs.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect::<Vec<_>>().join("&")
}

/// The suffix that older links use for the devices of a replica, after the target's name for them, and the current
/// name.
const FORMERLY: (&str, &str) = ("s-per-replica", "devices-per-replica");

/// The fields of a fragment, with or without a view. Anything other than a pair is ignored; the last of several values
/// applies.
pub fn read(fragment: &str) -> Fields {
    let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let fragment = fragment.trim_start_matches('#');
    let pairs = fragment.strip_prefix(VIEW).unwrap_or(fragment).split('&').filter_map(|pair| pair.split_once('='));
    let present = |name: String| if name.ends_with(FORMERLY.0) { FORMERLY.1.to_owned() } else { name };
    // One by one: to collect a map sorts its pairs, and the sort is larger than all of this.
    let mut fields = Fields::new();
    for (name, value) in pairs {
        fields.insert(present(decode(name)), decode(value));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::{read, view, write};
    use launch::form::Fields;

    #[test]
    fn whatever_is_written_is_read_again() {
        let hostile = "a b/\"q\" 'q' $HOME `id` $(id)\nline & = + % # ä ☃";
        let fields: Fields = [("target", "ipu"), ("args", hostile), ("site-file", "x = \"1\"\n")]
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .into();
        let fragment = write(&fields);
        assert!(!fragment.contains([' ', '\n', '#', '<']), "{fragment}");
        assert_eq!(read(&fragment), fields);
        assert_eq!(read(&format!("#{fragment}")), fields);
        assert_eq!(read(&format!("#launch?{fragment}")), fields);
    }

    #[test]
    fn a_view_is_kept_where_there_was_one() {
        assert_eq!(
            ["#launch?target=ipu", "#launch?", "#target=ipu", "", "#port"].map(view),
            ["launch?", "launch?", "", "", ""]
        );
    }

    #[test]
    fn odd_fragments_do_no_harm() {
        assert_eq!(read(""), Fields::new());
        assert_eq!(read("#&&=&x"), [(String::new(), String::new())].into());
        assert_eq!(read("#a=%zz%")["a"], "%zz%");
    }
}
