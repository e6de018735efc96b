//! The image size: the chosen file's, until the user enters another.

use super::choice::Fault;
use super::{Slot, State};
use uresnet::Event;

impl State {
    /// Sets the form to the image size that was read from the chosen file, unless the user has entered another.
    pub fn set_image_size(&mut self, size: Option<(usize, usize)>) {
        self.image_size = size;
        if let Some(size) = size.filter(|_| !self.own_size) {
            self.take_size(size);
        }
    }

    /// Sets the form to this image size.
    pub fn take_size(&mut self, (height, width): (usize, usize)) {
        self.choose("height", &height.to_string());
        self.choose("width", &width.to_string());
    }

    /// Called when the user has changed the size.
    pub(super) fn size_was_entered(&mut self) {
        self.own_size = self.file(Slot::Input).is_some() && self.image_size != Some(self.choice.size);
    }

    /// Forgets the previous file's size; `replaced` is whether there was one.
    pub(super) fn input_was_chosen(&mut self, replaced: bool) {
        self.image_size = None;
        // The size in a link whose file has to be chosen again is kept.
        self.own_size &= !replaced;
    }

    /// The size of the event's image, as far as it is known: for a file, if it is sparse and has one.
    fn known_size(&self) -> Option<(usize, usize)> {
        self.image_size.filter(|_| self.choice.has_input_file())
    }

    /// The form's problems, including those of a size that was read from a file.
    pub(super) fn choice_faults(&self) -> Vec<Fault> {
        let faults = self.choice.faults();
        match self.known_size() {
            Some(_) if faults.is_empty() => self.choice.size_faults(),
            _ => faults,
        }
    }

    /// A size for an event from a file that the form does not have.
    pub fn offered_size(&self) -> Option<(usize, usize)> {
        let size = self.known_size().unwrap_or(Event::USUAL_SIZE);
        Some(size).filter(|size| self.choice.has_input_file() && *size != self.choice.size)
    }

    /// The form's size, if it is that of the chosen file.
    pub fn taken_size(&self) -> Option<(usize, usize)> {
        self.known_size().filter(|size| *size == self.choice.size)
    }

    /// The properties of the input.
    pub fn fed(&self) -> String {
        let (factor, (height, width)) = (self.choice.downsample.max(1), self.choice.size);
        let input = format!("The network’s input is {} × {} pixels per plane.", height / factor, width / factor);
        if !self.choice.has_input_file() {
            return input;
        }
        let Some((rows, columns)) = self.known_size() else {
            return "A dense image has its own size. Height and width are those of a sparse one: 1280 × 2048 in \
                    CosmicTagger’s data."
                .to_owned();
        };
        let name = self.file(Slot::Input).map_or("the file", |file| &file.name);
        let form = match () {
            () if self.taken_size().is_some() => "Height and width were set to that.".to_owned(),
            () if height >= rows && width >= columns => "The rest is empty.".to_owned(),
            () => format!("A run fails if a pixel of the event is outside {height} × {width}."),
        };
        let input = if factor == 1 { String::new() } else { format!(" {input}") };
        format!("Images in {name} have {rows} × {columns} pixels. {form}{input}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::state::Chosen;

    /// The page after a file was chosen and read.
    fn with_file(fragment: &str, size: Option<(usize, usize)>) -> State {
        let mut state = State::at(fragment);
        choose(&mut state, size);
        state
    }

    fn choose(state: &mut State, size: Option<(usize, usize)>) {
        assert!(state.choose_file(Slot::Input, Chosen { name: "e.h5".to_owned(), bytes: 3 }));
        state.set_image_size(size);
    }

    fn check(state: &State, size: (usize, usize), said: &str, offered: Option<(usize, usize)>) {
        assert_eq!((state.choice.size, state.offered_size()), (size, offered));
        assert!(state.fed().contains(said), "{}", state.fed());
    }

    #[test]
    fn a_file_sets_the_size_and_the_user_changes_it() {
        let mut state = with_file("", Some((1280, 2048)));
        check(&state, (1280, 2048), "Images in e.h5 have 1280 × 2048 pixels. Height and width were set to that.", None);
        state.choose("downsample", "2");
        check(&state, (1280, 2048), "The network’s input is 640 × 1024 pixels", None);
        state.choose("height", "320");
        check(&state, (320, 2048), "fails if a pixel of the event is outside 320 × 2048", Some((1280, 2048)));
        // It is read again for another event.
        state.set_image_size(Some((1280, 2048)));
        check(&state, (320, 2048), "fails if", Some((1280, 2048)));
        state.take_size((1280, 2048));
        state.choose("width", "4096");
        check(&state, (1280, 4096), "The rest is empty.", Some((1280, 2048)));
        choose(&mut state, Some((64, 96)));
        check(&state, (64, 96), "set to that", None);
    }

    #[test]
    fn a_size_that_is_no_number_gives_way_to_the_files() {
        let mut state = State::at("");
        state.choose("height", "tall");
        choose(&mut state, Some((64, 96)));
        assert_eq!((state.value("height"), state.check()), ("64".to_owned(), Ok(())));
    }

    #[test]
    fn a_link_s_size_is_kept_for_the_file_that_it_asks_for() {
        let mut state = with_file("#height=640&input=file", Some((1280, 2048)));
        check(&state, (640, 512), "fails if", Some((1280, 2048)));
        choose(&mut state, Some((64, 96)));
        check(&state, (64, 96), "set to that", None);
        check(&with_file("#height=640", Some((64, 96))), (64, 96), "set to that", None);
    }

    #[test]
    fn a_file_without_a_size_leaves_the_form_s() {
        let mut state = with_file("#height=640", None);
        check(&state, (640, 512), "A dense image has its own size", Some((1280, 2048)));
        state.choose("input", "synthetic");
        check(&state, (640, 512), "The network’s input is 640 × 512", None);
    }

    #[test]
    fn a_size_that_can_t_be_halved_is_refused_before_the_run() {
        let mut state = with_file("#preset=uresnet", Some((160, 256)));
        assert_eq!(state.check(), Err("f-height".to_owned()));
        let next = state.said_of("height").next_size.expect("a size that fits");
        state.take_size(next);
        assert_eq!((state.choice.size, state.check()), ((192, 256), Ok(())));
        let mut state = with_file("", Some((1 << 13, 1 << 13)));
        assert!(state.said_of("height").problem.contains("4 GiB"), "{:?}", state.said_of("height"));
        assert_eq!(state.check(), Err("f-height".to_owned()));
    }
}
