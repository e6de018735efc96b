//! The meaning of the address's fragment: a shared project, an example from a guide, all targets side by side, or a
//! location in the port to one of them.
//!
//! A project is encoded as bytes ([`Share::to_bytes`]), deflated, in URL-safe base64. The browser deflates it;
//! everything else is in this file, so that old links can be tested without a browser.

use crate::port::state::{Choice, guides, project};
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use python::SourceFile;
use serde::{Deserialize, Serialize};

/// Longer addresses are rejected: browsers stop at 2 MiB.
pub const MAX_LINK: usize = 1_500_000;

/// The fragment for [`Fragment::Matrix`].
pub const MATRIX: &str = "#matrix";

/// What the fragment requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// Nothing.
    Empty,
    /// A shared project: a deflated [`Share`].
    Share(Vec<u8>),
    /// An example of a guide.
    Example(ExampleId),
    /// All targets side by side.
    Matrix,
    /// A location in the port of the open project to a target.
    Place {
        /// Target id.
        target: String,
        /// Number of the file, from 0.
        file: usize,
        /// Line of the ported text, from 1.
        line: usize,
    },
    /// A target, an SDK version, or both, with the same names as for `/launch/`.
    Choose {
        /// Target id.
        target: Option<String>,
        /// SDK version.
        sdk: Option<String>,
    },
    /// Something else.
    Unknown,
}

/// Names one `before` or `unchanged` example of a guide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExampleId {
    /// Guide, e.g. `hpu`.
    pub guide: String,
    /// Anchor of the section.
    pub section: String,
    /// The number of the example in its section, counted from 1; `after` fences are not counted.
    pub number: usize,
}

/// The part of the state that a link contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The files.
    pub files: Vec<SourceFile>,
    /// The current file.
    pub selected: usize,
    /// Target, style and so on.
    pub choice: Choice,
    /// Recipes that are turned off.
    pub recipes: Vec<String>,
    /// Edits that are turned off: file, id, position in the original, recipe.
    pub edits: Vec<crate::port::state::RejectedEdit>,
}

/// Changed whenever the format of what follows it changes.
const VERSION: u8 = 1;
/// The same, followed by the user's own guides. A page that knows no guides refuses such a link: its port would differ.
const WITH_GUIDES: u8 = 2;

impl Share {
    /// The bytes that are deflated into a link.
    pub fn to_bytes(&self) -> Vec<u8> {
        let guides = &self.choice.guides;
        let mut bytes = vec![if guides.is_empty() { VERSION } else { WITH_GUIDES }];
        bytes.extend(postcard::to_allocvec(self).unwrap_or_default());
        if !guides.is_empty() {
            guides::append(&mut bytes, guides);
        }
        bytes
    }

    /// Reads [`Share::to_bytes`]; `None` if the bytes are something else or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Share> {
        let (version, bytes) = bytes.split_first()?;
        let (mut share, mut rest) = postcard::take_from_bytes::<Share>(bytes).ok()?;
        match *version {
            VERSION => {}
            WITH_GUIDES => share.choice.guides = guides::take(&mut rest)?,
            _ => return None,
        }
        Some(share)
    }

    /// Whether the project is within the limits.
    pub fn check(&self) -> Result<(), String> {
        project::check_project(&self.files).map_err(|why| format!("it {why}"))?;
        project::check_size(&[&self.files, &self.choice.guides]).map_err(|why| format!("it {why}"))?;
        for file in self.files.iter().chain(&*self.choice.guides) {
            project::check_text(&file.text).map_err(|why| format!("{} {why}", file.path))?;
        }
        Ok(())
    }
}

/// Parses a fragment, with or without its `#`.
pub fn parse(fragment: &str) -> Fragment {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    match fragment {
        // Anchors of the page itself: the target of the skip link, and the view.
        "" | "main" | "port" => return Fragment::Empty,
        "matrix" => return Fragment::Matrix,
        _ => {}
    }
    match fragment.split_once('=') {
        Some(("s", data)) => ALPHABET.decode(data).ok().map_or(Fragment::Unknown, Fragment::Share),
        Some(("example", place)) => example(place).map_or(Fragment::Unknown, Fragment::Example),
        Some(("at", there)) => place(there).unwrap_or(Fragment::Unknown),
        _ => choice(fragment).unwrap_or(Fragment::Unknown),
    }
}

/// Whether a fragment names a project or options for one.
pub fn names_work(fragment: &str) -> bool {
    let key = fragment.trim_start_matches('#').split('=').next();
    matches!(key, Some("s" | "example" | "target" | "sdk"))
}

/// `target=hpu&sdk=1.24`; other fields of a launch are ignored.
fn choice(fragment: &str) -> Option<Fragment> {
    let field = |wanted: &str| {
        let pairs = fragment.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .filter(|(name, value)| *name == wanted && !value.is_empty())
            .map(|(_, value)| value.to_owned())
            .next_back()
    };
    let (target, sdk) = (field("target"), field("sdk"));
    (target.is_some() || sdk.is_some()).then_some(Fragment::Choose { target, sdk })
}

/// `hpu/0/41`: target, number of the file, line.
fn place(there: &str) -> Option<Fragment> {
    let mut parts = there.split('/');
    let (target, file, line) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let whole = parts.next().is_none() && line > 0;
    whole.then(|| Fragment::Place { target: target.into(), file, line })
}

/// The fragment for a [`Fragment::Place`].
pub fn of_place(target: &str, file: usize, line: usize) -> String {
    format!("#at={target}/{file}/{line}")
}

/// `hpu/autocast/2`: guide, section, number of the example from 1.
fn example(place: &str) -> Option<ExampleId> {
    let mut parts = place.split('/');
    let (guide, section) = (parts.next()?, parts.next()?);
    let number = parts.next().unwrap_or("1").parse().ok().filter(|n| *n > 0)?;
    let plain = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    (parts.next().is_none() && plain(guide) && plain(section)).then(|| ExampleId {
        guide: guide.into(),
        section: section.into(),
        number,
    })
}

/// The fragment for a deflated [`Share`].
pub fn of_share(deflated: &[u8]) -> String {
    format!("#s={}", ALPHABET.encode(deflated))
}

/// Without padding; decoded with or without it, because links have been written both ways.
const ALPHABET: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive() {
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"abcd", &[0xff; 5], &[0, 1, 2, 250, 251]] {
            let text = of_share(bytes);
            assert!(text[3..].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
            assert_eq!(parse(&text), Fragment::Share(bytes.into()));
        }
        assert_eq!(parse("#s=aGk"), Fragment::Share(b"hi".into()));
        assert_eq!(parse("#s=aGk="), Fragment::Share(b"hi".into()));
    }

    #[test]
    fn examples() {
        let id = |number| ExampleId { guide: "hpu".into(), section: "model-to-device".into(), number };
        assert_eq!(parse("#example=hpu/model-to-device/2"), Fragment::Example(id(2)));
        assert_eq!(parse("example=hpu/model-to-device"), Fragment::Example(id(1)));
    }

    #[test]
    fn places() {
        let place = Fragment::Place { target: "hpu".into(), file: 2, line: 41 };
        assert_eq!(parse(&of_place("hpu", 2, 41)), place);
        assert_eq!(parse("#matrix"), Fragment::Matrix);
    }

    #[test]
    fn choices() {
        let check = |fragment: &str, target: Option<&str>, sdk: Option<&str>| {
            let expected = Fragment::Choose { target: target.map(str::to_owned), sdk: sdk.map(str::to_owned) };
            assert_eq!(parse(fragment), expected, "{fragment}");
        };
        check("#target=hpu", Some("hpu"), None);
        check("#sdk=1.8&target=hpu", Some("hpu"), Some("1.8"));
        check("#target=ipu&entry=train.py&args=", Some("ipu"), None);
        assert_eq!(parse("#target="), Fragment::Unknown);
    }

    #[test]
    fn what_edits_make_untrue() {
        for fragment in ["#s=aGk", "#example=hpu/device/1", "#target=hpu", "#sdk=1.8&target=hpu"] {
            assert!(names_work(fragment), "{fragment}");
        }
        for fragment in ["", "#port", "#matrix", "#at=hpu/0/1", "#start"] {
            assert!(!names_work(fragment), "{fragment}");
        }
    }

    #[test]
    fn nonsense_is_named_as_such() {
        assert_eq!(parse(""), Fragment::Empty);
        assert_eq!(parse("#"), Fragment::Empty);
        assert_eq!(parse("#main"), Fragment::Empty);
        for bad in [
            "#s=a",
            "#s=a!",
            "#example=",
            "#example=hpu",
            "#example=../x/1",
            "#example=a/b/0",
            "#x=1",
            "#top",
            "#at=hpu/0",
            "#at=hpu/0/0",
        ] {
            assert_eq!(parse(bad), Fragment::Unknown, "{bad}");
        }
    }
}
