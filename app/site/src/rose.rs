//! The wind rose of the charts: the site's mark, on top of every page and as its icon.

/// The long points, the short ones, and the one to the north.
const POINTS: [&str; 3] = [
    "M16 1.5l3.2 11.3L30.5 16l-11.3 3.2L16 30.5l-3.2-11.3L1.5 16l11.3-3.2z",
    "M7 7l6.2 3.6h-2.6zM25 7l-3.6 6.2v-2.6zM25 25l-6.2-3.6h2.6zM7 25l3.6-6.2v2.6z",
    "M16 1.5l3.2 11.3L16 16l-3.2-3.2z",
];

/// In the text's colour, with the north in its own.
pub(crate) fn inline() -> String {
    let [long, short, north] = POINTS;
    format!(
        "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" fill=\"currentColor\">\
         <path d=\"{long}\"/><path d=\"{short}\"/><path class=\"rose-north\" d=\"{north}\"/></svg>"
    )
}

/// The icon as a data URL, so that a first visit requests one file less. The points are those of the mark, which the
/// page has anyway, so they compress to almost nothing.
pub(crate) fn icon() -> String {
    let [long, short, north] = POINTS;
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><style>path{{fill:#0b5568}}.n{{fill:#a8391a}}\
         @media(prefers-color-scheme:dark){{path{{fill:#86cfe0}}.n{{fill:#f2a488}}}}</style>\
         <path d='{long}'/><path d='{short}'/><path class='n' d='{north}'/></svg>"
    );
    // Characters that would end the address or the attribute, or look like a tag of the page.
    let escaped = svg.replace('%', "%25").replace('#', "%23").replace('<', "%3C").replace('>', "%3E");
    format!("data:image/svg+xml,{escaped}")
}

#[cfg(test)]
mod tests {
    use super::icon;

    #[test]
    fn the_icon_fits_into_an_attribute() {
        let address = icon();
        assert!(address.starts_with("data:image/svg+xml,%3Csvg"), "{address}");
        assert!(!address.contains(['"', '<', '>', '#', '&']), "{address}");
    }
}
