//! Words by which a training program is analysed, as listed in the guide `reading-a-program.md`.

include!(concat!(env!("OUT_DIR"), "/words.rs"));

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// All Rust files below a folder.
    fn sources(folder: &Path) -> String {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        let text = |path: &Path| match path {
            _ if path.is_dir() => sources(path),
            _ if path.extension().is_some_and(|x| x == "rs") => std::fs::read_to_string(path).expect("it is text"),
            _ => String::new(),
        };
        paths.map(|path| text(&path)).collect()
    }

    #[test]
    fn every_list_is_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let readers = sources(&root.join("src")) + &sources(&root.join("../codemod/src"));
        let lists = include_str!(concat!(env!("OUT_DIR"), "/words.rs"));
        let names =
            lists.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(':')).map(|(name, _)| name);
        let unread: Vec<&str> = names.filter(|name| readers.matches(name).count() < 2).collect();
        assert_eq!(unread, [""; 0], "lists of guides/reading-a-program.md that nothing reads");
    }
}
