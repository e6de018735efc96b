//! Projects of several files as one text, the form of libFuzzer's inputs: each file is preceded by a line with its
//! path.

/// The prefix of the line before a file.
const MARK: &str = "#=# ";

/// The path of the text before the first such line.
const FIRST: &str = "train.py";

/// The files one after the other. Each gets an additional newline at its end, so that one without a final newline stays
/// so.
pub(crate) fn join(files: &[(String, String)]) -> String {
    files.iter().map(|(path, text)| format!("{MARK}{path}\n{text}\n")).collect()
}

/// The paths and texts of a project; for two files with one path, the first.
pub(crate) fn split(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix(MARK) {
            files.push((path.trim().to_owned(), String::new()));
        } else {
            if files.is_empty() {
                files.push((FIRST.to_owned(), String::new()));
            }
            files.last_mut().into_iter().for_each(|(_, text)| text.push_str(line));
        }
    }
    let mut known = std::collections::BTreeSet::new();
    files.retain(|(path, _)| !path.is_empty() && known.insert(path.clone()));
    for (_, text) in &mut files {
        text.truncate(text.strip_suffix('\n').unwrap_or(text).len());
    }
    files
}
