use super::Page;

const SHARED: &str = "+++\ntitle = \"Devices\"\nshared = true\n+++\nFor authors.\n\n## Types {#types}\n\n```diff rule\n- x.cuda()\n+ x.to(\"{{fact.device}}\")\n```\n\n\
                      ```python before\nx.cuda()\n```\n\n```python after\n{{fact.prologue}}\nx.to(\"{{fact.device}}\")\n```\n";

fn guide(target: &str, facts: &str, body: &str) -> String {
    format!("+++\ntitle = \"T\"\ntarget = \"{target}\"\n{facts}+++\n## Types {{#types}}\n\nWhy.\n\n{body}")
}

fn pages<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Page> {
    super::pages(files).expect("right").0
}

/// Errors, or what is not used.
fn check_faults(files: &[(&str, &str)], expected: &[&str]) {
    let faults = super::pages(files.iter().copied()).map_or_else(|faults| faults, |(_, unused)| unused);
    assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

const INCLUDE: &str = "```include devices#types\n```\n";

#[test]
fn each_target_has_its_own_words_and_lines() {
    let a = guide("a", "[facts]\ndevice = \"one\"\nprologue = \"import one\\n\\n\"\n", INCLUDE);
    let b = guide("b", "[facts]\ndevice = \"two\"\nprologue = \"\"\n", INCLUDE);
    let read = pages([("g/a.md", &*a), ("g/b.md", &b), ("g/devices.md", SHARED)]);
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
    let read = pages([("g/a.md", &*a), ("g/more.md", &more), ("g/devices.md", SHARED)]);
    assert!(read[1].text.contains("x.to(\"one\")"));
}

#[test]
fn faults_have_their_place() {
    let a = guide("a", "[facts]\ndevice = \"one\"\n", INCLUDE);
    check_faults(
        &[("g/a.md", &a), ("g/devices.md", SHARED)],
        &["g/devices.md:19: g/a.md includes this, and its target has no fact `fact.prologue`"],
    );
    check_faults(
        &[("g/a.md", &guide("a", "", "```include devices#typos\n```\n")), ("g/devices.md", SHARED)],
        &["g/a.md:9: there is no shared section `devices#typos` in this folder"],
    );
    check_faults(
        &[
            (
                "g/a.md",
                &guide("a", "[facts]\ndevice = \"\"\nprologue = \"\"\n", "```include devices#types\nmore\n```\n"),
            ),
            ("g/devices.md", SHARED),
        ],
        &["g/a.md:12: an `include` fence must be empty: close it on the next line"],
    );
    check_faults(
        &[("g/a.md", "+++\ntitle = \"A\"\ntarget = \"a\"\n[facts]\nunused = \"x\"\n+++\n## A\n")],
        &["g/a.md:5: no shared text has `{{fact.unused}}`: use the fact, or remove it"],
    );
    check_faults(
        &[("g/s.md", "+++\nshared = true\n+++\n### A\n\n```include s#b\n```\n")],
        &["g/s.md:2: missing field `title`"],
    );
    check_faults(
        &[("g/s.md", "+++\ntitle = \"S\"\nshared = true\n+++\n### A\n\n```include s#b\n```\n## B {#b}\n## C {#b}\n")],
        &[
            "g/s.md:5: a shared section must begin with `## Title {#anchor}`",
            "g/s.md:7: shared text can't include other text",
            "g/s.md:10: another section has the anchor `b`",
        ],
    );
    check_faults(
        &[("g/devices.md", SHARED)],
        &["g/devices.md:7: no guide includes this section: include it, or remove it"],
    );
}

#[test]
fn front_matter_is_read_before_anything_is_included() {
    let check = |front: &str, expected: &str| {
        let faults = super::pages([("g/a.md", &*guide("a", front, INCLUDE)), ("g/devices.md", SHARED)]).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].to_string().starts_with(expected), "{}", faults[0]);
    };
    check("[facts]\ndevice = 4\n", "g/a.md:5: invalid type: integer `4`");
    check("[facts]\ndevice = \"one\ntwo = 2\n", "g/a.md:5: ");
    let unclosed = SHARED.replace("\"Devices\"", "\"Devices");
    let faults = super::pages([("g/devices.md", &*unclosed)]).unwrap_err();
    assert!(faults[0].to_string().starts_with("g/devices.md:2: "), "{}", faults[0]);
}

#[test]
fn what_is_almost_a_fact_is_an_error() {
    for (line, name) in
        [("{{ fact.device }}", " fact.device "), ("{{facts.device}}", "facts.device"), ("{{fact.device", "fact.device")]
    {
        let shared = format!("+++\ntitle = \"D\"\nshared = true\n+++\n## A {{#a}}\n\n{line}\n");
        let a = guide("a", "[facts]\ndevice = \"one\"\n", "```include devices#a\n```\n");
        let faults = super::pages([("g/a.md", &*a), ("g/devices.md", &shared)]).unwrap_err();
        let expected = format!("g/devices.md:7: g/a.md includes this, and its target has no fact `{name}`");
        assert_eq!(faults[0].to_string(), expected);
    }
}

#[test]
fn a_fact_of_a_target_has_one_value() {
    let (a, b) = (
        guide("a", "[facts]\ndevice = \"one\"\nprologue = \"\"\n", INCLUDE),
        guide("a", "[facts]\ndevice = \"two\"\n", ""),
    );
    check_faults(
        &[("g/a.md", &a), ("g/b.md", &b), ("g/devices.md", SHARED)],
        &["g/b.md:5: another guide of a has the fact `device`, too: keep one"],
    );
}

#[test]
fn an_error_in_shared_text_is_said_where_it_is() {
    let shared = "+++\ntitle = \"D\"\nshared = true\n+++\n## A {#a}\n\n```python afterwards\nx\n```\n";
    let a = guide("a", "", "```include devices#a\n```\n");
    let read = pages([("g/a.md", &*a), ("g/devices.md", shared)]);
    let faults = read[0].parse().unwrap_err();
    assert!(faults[0].to_string().starts_with("g/devices.md:7: unknown word `afterwards`"), "{}", faults[0]);
}

#[test]
fn what_a_fence_shows_is_not_included() {
    let quoted = guide("a", "", "````markdown\n```include devices#a\n```\n````\n");
    assert_eq!(pages([("g/a.md", &*quoted)])[0].text, quoted);
}

#[test]
fn shared_forms_have_facts_for_whole_words_and_lines() {
    let front = "[facts]\ndevice = \"act\"\nprologue = \"import one\\nimport two\\n\"\n";
    let a = guide("a", front, INCLUDE);
    let read = pages([("g/a.md", &*a), ("g/devices.md", SHARED)]);
    let text = "import one\nimport two\nfactor.to(\"act\")\n";
    let forms = read[0].shared_forms(text);
    let word = "factor.to(\"{{fact.device}}\")\n";
    assert_eq!(forms, [format!("{{{{fact.prologue}}}}\n{word}"), format!("import one\nimport two\n{word}")]);
    assert!(forms.iter().all(|form| read[0].filled(form).unwrap() == text));
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
