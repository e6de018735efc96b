use super::pages;

const SHARED: &str = "+++\ntitle = \"Devices\"\nshared = true\n+++\nFor authors.\n\n## Types {#types}\n\n```diff rule\n- x.cuda()\n+ x.to(\"{{fact.device}}\")\n```\n\n\
                      ```python before\nx.cuda()\n```\n\n```python after\n{{fact.prologue}}\nx.to(\"{{fact.device}}\")\n```\n";

fn guide(target: &str, facts: &str, body: &str) -> String {
    format!("+++\ntitle = \"T\"\ntarget = \"{target}\"\n{facts}+++\n## Types {{#types}}\n\nWhy.\n\n{body}")
}

fn check_faults(files: &[(&str, &str)], expected: &[&str]) {
    let faults = pages(files.iter().copied()).expect_err("faults");
    assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

const INCLUDE: &str = "```include devices#types\n```\n";

#[test]
fn each_target_has_its_own_words_and_lines() {
    let a = guide("a", "[facts]\ndevice = \"one\"\nprologue = \"import one\\n\\n\"\n", INCLUDE);
    let b = guide("b", "[facts]\ndevice = \"two\"\nprologue = \"\"\n", INCLUDE);
    let read = pages([("g/a.md", &*a), ("g/b.md", &b), ("g/devices.md", SHARED)]).unwrap();
    assert_eq!(read.len(), 2, "the shared file is no guide");
    assert!(read[0].text.contains("```python after\nimport one\n\nx.to(\"one\")\n```\n"), "{}", read[0].text);
    assert!(
        read[1].text.contains("+ x.to(\"two\")\n") && read[1].text.contains("```python after\nx.to(\"two\")\n```\n")
    );
    let parsed = read[1].parse().unwrap();
    let rule = &parsed.sections[0].rules[0];
    assert_eq!((read[1].place(rule.line), read[1].place(1)), (("g/devices.md", 10), ("g/b.md", 1)));
}

#[test]
fn facts_are_those_of_the_target_in_all_its_guides() {
    let a = guide("a", "[facts]\ndevice = \"one\"\nprologue = \"\"\n", "");
    let more = guide("a", "", INCLUDE);
    let read = pages([("g/a.md", &*a), ("g/more.md", &more), ("g/devices.md", SHARED)]).unwrap();
    assert!(read[1].text.contains("x.to(\"one\")"));
}

#[test]
fn faults_have_their_place() {
    let a = guide("a", "[facts]\ndevice = \"one\"\n", INCLUDE);
    check_faults(
        &[("g/a.md", &a), ("g/devices.md", SHARED)],
        &["g/devices.md:19: g/a.md includes this, and `prologue` is not in its target's `[facts]`"],
    );
    check_faults(
        &[("g/a.md", &guide("a", "", "```include devices#typos\n```\n")), ("g/devices.md", SHARED)],
        &[
            "g/a.md:9: there is no shared section `devices#typos`",
            "g/devices.md:7: no guide includes this section: include it, or remove it",
        ],
    );
    check_faults(
        &[
            (
                "g/a.md",
                &guide("a", "[facts]\ndevice = \"\"\nprologue = \"\"\n", "```include devices#types\nmore\n```\n"),
            ),
            ("g/devices.md", SHARED),
        ],
        &["g/a.md:12: an `include` fence is empty: end it in the next line"],
    );
    check_faults(
        &[("g/a.md", "+++\ntitle = \"A\"\ntarget = \"a\"\n[facts]\nunused = \"x\"\n+++\n## A\n")],
        &["g/a.md:5: no shared text has `{{fact.unused}}`: use the fact, or remove it"],
    );
    check_faults(
        &[("g/s.md", "+++\nshared = true\n+++\n### A\n\n```include s#b\n```\n")],
        &[
            "g/s.md:4: a shared section begins with `## Title {#anchor}`",
            "g/s.md:6: shared text can't include other text",
        ],
    );
}

#[test]
fn an_error_in_shared_text_is_said_where_it_is() {
    let shared = "+++\ntitle = \"D\"\nshared = true\n+++\n## A {#a}\n\n```python afterwards\nx\n```\n";
    let a = guide("a", "", "```include devices#a\n```\n");
    let read = pages([("g/a.md", &*a), ("g/devices.md", shared)]).unwrap();
    let faults = read[0].parse().unwrap_err();
    assert!(faults[0].to_string().starts_with("g/devices.md:7: unknown word `afterwards`"), "{}", faults[0]);
}

#[test]
fn what_a_fence_shows_is_not_included() {
    let quoted = guide("a", "", "````markdown\n```include devices#a\n```\n````\n");
    assert_eq!(pages([("g/a.md", &*quoted)]).unwrap()[0].text, quoted);
}

#[test]
fn the_form_of_shared_text_has_facts_by_name() {
    let a = guide("a", "[facts]\ndevice = \"one\"\nprologue = \"import one\\n\"\n", INCLUDE);
    let read = pages([("g/a.md", &*a), ("g/devices.md", SHARED)]).unwrap();
    let form = read[0].shared_form("import one\nx.to(\"one\")\n");
    assert_eq!(form, "{{fact.prologue}}\nx.to(\"{{fact.device}}\")\n");
}

#[test]
fn a_page_alone_can_include_nothing() {
    let faults = guide::Guide::parse("t.md", &guide("a", "", INCLUDE)).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "t.md:9: a guide includes text from other files of its folder only, and only at the beginning of a line"
    );
}

use crate as guide;
