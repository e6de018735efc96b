//! Links: any address is accepted or ignored, and links round-trip.

use super::{Mutator, Target, Ways};
use crate::fuzz::random::Random;
use crate::fuzz::seeds::{self, Seed};
use python::SourceFile;
use web::port::state::fragment::{Fragment, Share, of_place, of_share, parse};
use web::port::state::{Choice, Guides, RejectedEdit};

pub(super) const TARGET: Target = Target { name: "share_link", check, seeds, mutator: Mutator::Bytes, short: 400 };

fn seeds() -> Vec<Seed> {
    let shared = seeds::programs().into_iter().take(40).map(|(name, text)| {
        let share = share_of(&text);
        (name, share.to_bytes())
    });
    let addresses = ["#at=hpu/0/41", "#example=hpu/model-to-device/2", "#target=hpu&sdk=1.23", "#s=AQIDBA", "#matrix"];
    shared.chain(addresses.map(|one| (one[1..3].to_owned() + ".txt", one.into()))).collect()
}

/// A project whose parts are parts of the input.
fn share_of(input: &[u8]) -> Share {
    let text = String::from_utf8_lossy(input).into_owned();
    let mut random = Random::new(super::number_of(input));
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut word = || random.pick(&words).copied().unwrap_or_default().to_owned();
    let mut choice =
        Choice { target: word(), sdk: Some(word()), options: [(word(), word())].into(), ..Choice::default() };
    if text.len().is_multiple_of(2) {
        choice.guides = Guides::new(vec![SourceFile { path: word(), text: word() }]);
    }
    Share {
        files: vec![SourceFile { path: word(), text: text.clone() }, SourceFile { path: word(), text: word() }],
        selected: text.len(),
        choice,
        recipes: vec![word(), word()],
        edits: vec![RejectedEdit { path: word(), id: word(), recipe: word(), start: text.len(), group: 0 }],
    }
}

fn check(input: &[u8], _: Ways) {
    let text = String::from_utf8_lossy(input);
    match parse(&text) {
        Fragment::Share(bytes) => assert_eq!(parse(&of_share(&bytes)), Fragment::Share(bytes), "a link"),
        Fragment::Place { target, file, line } => {
            let place = of_place(&target, file, line);
            assert_eq!(parse(&place), Fragment::Place { target, file, line }, "a place");
        }
        _ => {}
    }
    assert_eq!(parse(&of_share(input)), Fragment::Share(input.to_vec()), "bytes");
    if let Some(share) = Share::from_bytes(input) {
        assert_eq!(Share::from_bytes(&share.to_bytes()), Some(share), "read, written and read");
    }
    let share = share_of(input);
    assert_eq!(Share::from_bytes(&share.to_bytes()), Some(share), "written and read");
}
