//! A file's text as it was opened or pasted. The user has this text on disk, so a patch is based on it, whatever has
//! been edited on the page since.

use std::sync::Arc;

/// Where the text of a file comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Original {
    /// The text as it was opened or pasted; empty if it was typed.
    text: Arc<str>,
    /// The text that was replaced as a whole, and its original: undo in the field restores both.
    before: Option<[Arc<str>; 2]>,
}

impl Original {
    /// The origin of a text that was opened.
    pub(super) fn of(text: Arc<str>) -> Original {
        Original { text, before: None }
    }

    /// Tracks an edit that changed `was` into `now`; `whole` means that something was pasted over all of it.
    pub(super) fn follow(&mut self, was: &Arc<str>, now: &Arc<str>, whole: bool) {
        if let Some([_, original]) = self.before.as_ref().filter(|[text, _]| text == now) {
            return self.text = original.clone();
        }
        let (from_nothing, to_nothing) = (was.trim().is_empty(), now.trim().is_empty());
        if !from_nothing && (whole || to_nothing) {
            let original = std::mem::take(&mut self.text);
            // A text that is restored to how it was opened or pasted is its own original.
            if whole || original != *was {
                self.before = Some([was.clone(), original]);
            }
        }
        // A key inserts a character or a line ending; several lines at once were pasted.
        let pasted = whole || (from_nothing && now.trim().contains('\n'));
        if pasted && !to_nothing {
            self.text = now.clone();
        }
    }

    /// The text on which a patch of the file is based.
    pub(super) fn base<'a>(&'a self, text: &'a Arc<str>) -> &'a Arc<str> {
        if self.text.is_empty() { text } else { &self.text }
    }

    /// Whether the text has been edited since it was opened or pasted.
    pub(super) fn is_edited(&self, text: &Arc<str>) -> bool {
        let base = self.base(text);
        !Arc::ptr_eq(base, text) && base != text
    }

    /// The original if it must be saved together with the text; `None` if it is the text itself.
    pub(super) fn kept(&self, text: &Arc<str>) -> Option<String> {
        (self.text.is_empty() || self.is_edited(text)).then(|| self.text.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The base of a patch after each of these texts; `!` marks a text that was pasted over the previous one.
    fn bases(first: Option<&str>, texts: &[&str]) -> Vec<String> {
        let mut now: Arc<str> = first.unwrap_or_default().into();
        let mut original = first.map_or_else(Original::default, |text| Original::of(text.into()));
        let follow = |text: &&str| {
            let was = now.clone();
            now = text.trim_start_matches('!').into();
            original.follow(&was, &now, text.starts_with('!'));
            original.base(&now).to_string()
        };
        texts.iter().map(follow).collect()
    }

    #[test]
    fn an_edit_leaves_what_was_opened_or_pasted() {
        assert_eq!(bases(Some("a\nb\n"), &["a\nc\n", "a\n"]), ["a\nb\n", "a\nb\n"]);
        assert_eq!(bases(None, &["a\nb\n", "a\nc\n"]), ["a\nb\n", "a\nb\n"]);
    }

    #[test]
    fn what_is_typed_is_its_own_base() {
        assert_eq!(bases(None, &["a", "a\n", "a\nb"]), ["a", "a\n", "a\nb"]);
    }

    #[test]
    fn what_is_pasted_over_all_is_another_original_until_it_is_undone() {
        let pasted = bases(Some("a\nb\n"), &["a\nc\n", "!a\nd\n", "a\ne\n", "a\nd\n", "a\nc\n", "a\nx\n"]);
        assert_eq!(pasted, ["a\nb\n", "a\nd\n", "a\nd\n", "a\nd\n", "a\nb\n", "a\nb\n"]);
        let cleared = bases(Some("a\nb\n"), &["a\nc\n", "", "x\ny\n", "", "a\nc\n"]);
        assert_eq!(cleared, ["a\nb\n", "", "x\ny\n", "", "a\nb\n"]);
    }
}
