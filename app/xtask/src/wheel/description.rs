//! The README as the description on the package index, which has none of the checkout's files.

use anyhow::{Result, bail};

/// The text with links to files of the repository at a tag, if its address is known, and otherwise with their words alone; pictures
/// likewise. An error names a link to a file that the checkout lacks.
pub(super) fn of(
    readme: &str,
    repository: Option<(String, String)>,
    is_there: &dyn Fn(&str) -> bool,
) -> Result<String> {
    let mut text = String::new();
    let mut rest = readme;
    while let Some(at) = rest.find("](") {
        let (Some(open), Some(length)) = (rest[..at].rfind('['), rest[at..].find(')')) else {
            bail!("README.md: a link that is not [text](target): {}", rest[at..].lines().next().unwrap_or_default());
        };
        let (words, target) = (&rest[open + 1..at], &rest[at + 2..at + length]);
        let is_picture = rest[..open].ends_with('!');
        text += &rest[..open - usize::from(is_picture)];
        rest = &rest[at + length + 1..];
        let mark = if is_picture { "!" } else { "" };
        if target.starts_with("https://") || target.starts_with('#') {
            text += &format!("{mark}[{words}]({target})");
            continue;
        }
        let path = target.split('#').next().unwrap_or_default();
        if !is_there(path) {
            bail!("README.md links to {path}, which does not exist");
        }
        match &repository {
            Some((address, tag)) => {
                let kind = if is_picture { "raw" } else { "blob" };
                text += &format!("{mark}[{words}]({address}/{kind}/{tag}/{target})");
            }
            None if is_picture => {}
            None => text += words,
        }
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    fn check(readme: &str, with_address: &str, without: &str) {
        let of = |link| super::of(readme, link, &|path| path != "gone.md").expect("every file is there");
        assert_eq!(of(Some(("https://h.org/o/n".to_owned(), "v1".to_owned()))), with_address);
        assert_eq!(of(None), without);
    }

    #[test]
    fn links_to_files_are_those_of_the_repository() {
        check(
            "a [b](docs/b.md#c), [d](#d) and\n![e](e.png)\n",
            "a [b](https://h.org/o/n/blob/v1/docs/b.md#c), [d](#d) and\n![e](https://h.org/o/n/raw/v1/e.png)\n",
            "a b, [d](#d) and\n\n",
        );
        check("[r](https://r.org) [x] (y)", "[r](https://r.org) [x] (y)", "[r](https://r.org) [x] (y)");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = super::of("see [it](gone.md)", None, &|_| false).unwrap_err();
        assert_eq!(error.to_string(), "README.md links to gone.md, which does not exist");
    }
}
