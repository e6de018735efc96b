//! `docs/coverage.md` names only sections and tests that exist.

use tests::sound::here;

#[test]
fn every_section_and_test_exists() {
    let docs = here().join("../docs");
    let read = |path: &str| std::fs::read_to_string(docs.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let table = read("coverage.md");
    let mut links = 0;
    for row in table.lines().filter(|line| line.starts_with('|')) {
        for link in row.split("](").skip(1) {
            let (target, rest) = link.split_once(')').expect("the end of a link");
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let text = read(path);
            assert!(anchor.is_empty() || text.contains(&format!("{{#{anchor}}}")), "no section {target}");
            let test = rest.trim_start().strip_prefix('`').and_then(|rest| rest.split('`').next());
            // A test in Python, or an example whose run is stated.
            let is_test =
                |test| text.contains(&format!("def {test}(")) || text.contains(&format!("\n\"{test}\" = \"equal"));
            assert!(test.is_none_or(is_test), "no test {test:?} in {path}");
            links += 1;
        }
    }
    assert!(links > 20, "{links} links");
}
