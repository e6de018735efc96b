//! Text with `{{slots}}`.

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// `{{name}}`, or `{{list.name}}` inside `{{each list}}`.
    Slot(String),
}

/// A text with slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotText(pub(crate) Vec<Piece>);

impl SlotText {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, slot)) = rest.split_once("{{") {
            let Some((name, after)) = slot.split_once("}}") else {
                return Err(format!("`{{{{{slot}` has no closing `}}}}`"));
            };
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Slot(name.trim().to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text with `value` in its slots; none if a value is missing.
    pub(crate) fn fill<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Slot(name) => out.push_str(value(name)?),
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::SlotText;

    #[test]
    fn filling() {
        let text = SlotText::parse("{{a}} and {{ b }}: f\"{c}\"").unwrap();
        assert_eq!(text.slots().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(text.fill(|name| Some(if name == "a" { "x" } else { "y" })).unwrap(), "x and y: f\"{c}\"");
        assert_eq!(text.fill(|name| (name == "a").then_some("x")), None);
        assert_eq!(SlotText::parse("{{a").unwrap_err(), "`{{a` has no closing `}}`");
    }
}
