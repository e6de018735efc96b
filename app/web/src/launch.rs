//! The page that writes launch scripts.
//!
//! One small program without a worker: a plan is made in less than a millisecond, so every key is answered at once. What
//! is written into the form is a table of fields ([`launch::form::Fields`]); it stands in the address, so that a link
//! carries it and the browser's history is the undo. Tested natively are [`fragment`] (the address) and the parts of the
//! page as HTML: [`form`], [`script`], [`check`]. `page` is for the browser: it reads the controls and shows the rest.

pub mod check;
pub mod form;
pub mod fragment;
pub mod script;

#[cfg(target_arch = "wasm32")]
pub mod page;

/// Text as HTML, also inside quotes.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            c => html.push(c),
        }
    }
    html
}
