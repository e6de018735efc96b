//! Operations that a message names, in the guides' lists of operations that a target lacks.

use super::{Candidate, Hit, Operation};
use crate::api_names::guides_of;
use crate::explain::log::Line;
use guide::{Defined, Guide, Section};

/// The candidates for a line: if it names an operation that a list of the target has, the list's section, then the section
/// that answers the message.
pub(super) fn looked_up(hit: &Hit<'_>, line: &Line, guides: &[Guide], target: Option<&str>) -> Vec<Candidate> {
    let mut own = Candidate::new(hit.guide, hit.section, line);
    let Some(name) = operation(&line.text) else { return vec![own] };
    let target = target.or(hit.guide.front.target.as_deref());
    let listed = target.and_then(|target| {
        let sections =
            guides_of(guides, target).into_iter().flat_map(|guide| guide.sections.iter().map(move |s| (guide, s)));
        sections.filter_map(|(guide, section)| Some((guide, section, listed(section, name)?))).next()
    });
    let operation =
        |listed: Option<&str>| Operation { name: format!("aten::{name}"), listed: listed.map(str::to_owned) };
    match listed {
        Some((guide, section, entry)) => {
            let mut first = Candidate::new(guide, section, line);
            first.operation = Some(operation(Some(entry)));
            own.operation = Some(operation(Some(entry)));
            vec![first, own]
        }
        None => {
            own.operation = Some(operation(None));
            vec![own]
        }
    }
}

/// The operation in a message: `fft_fft` of `aten::fft_fft.out`.
fn operation(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("aten::")?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some(name).filter(|name| !name.is_empty())
}

/// The entry for an operation in a list of what a section's rules only report.
fn listed<'s>(section: &'s Section, operation: &str) -> Option<&'s str> {
    // `torch.linalg.svd` is `linalg_svd`, `torch.svd` is `svd`; `_` at an end marks variants of the same operation.
    let operation = operation.trim_matches('_');
    let is_it = |entry: &str| {
        let spelled = entry.strip_prefix("torch.").unwrap_or(entry).replace('.', "_");
        spelled == operation || spelled.strip_suffix(operation).is_some_and(|before| before == "nn_functional_")
    };
    let reported = section.rules.iter().any(|rule| rule.manual);
    let lists = section.definitions.iter().filter(|_| reported).filter_map(|definition| match &definition.what {
        Defined::Names(list) => Some(list),
        _ => None,
    });
    lists.flatten().map(|entry| entry.name.as_str()).find(|entry| is_it(entry))
}

#[cfg(test)]
mod tests {
    use super::{listed, operation};
    use guide::Guide;

    #[test]
    fn names_of_operations() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(operation(text), expected, "{text}");
        check("Unsupported ops: [aten::nan_to_num].", Some("nan_to_num"));
        check("Could not run 'aten::_fft_r2c' with", Some("_fft_r2c"));
        check("aten::add.out", Some("add"));
        check("aten:: nothing", None);
        check("add", None);
    }

    #[test]
    fn an_operation_is_found_in_a_list_by_its_name() {
        let page = "+++\ntitle = \"T\"\ntarget = \"t\"\n+++\n## A\nWhy.\n```names missing\ntorch.svd\ntorch.linalg.svd\ntorch.nn.functional.fold\n```\n```diff rule manual\n  $F($$$A)\n```\n```where\n$F is one of @missing\n```\n";
        let guide = Guide::parse("t.md", page).expect("it is right");
        let check =
            |name: &str, expected: Option<&str>| assert_eq!(listed(&guide.sections[0], name), expected, "{name}");
        check("svd", Some("torch.svd"));
        check("linalg_svd", Some("torch.linalg.svd"));
        check("_linalg_svd", Some("torch.linalg.svd"));
        check("fold", Some("torch.nn.functional.fold"));
        check("unfold", None);
        check("old", None);
    }
}
