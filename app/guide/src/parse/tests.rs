use crate::Guide;

const FRONT: &str = "+++\ntitle = \"T\"\ntarget = \"hpu\"\nsdks = [\"1.8\", \"1.20\"]\n+++\n";

/// The guide as a short outline: one line per section, rule, condition, case.
fn outline(guide: &Guide) -> String {
    let mut out = String::new();
    for section in &guide.sections {
        out += &format!("{} {}#{} {}: {}\n", section.line, guide.name, section.id, section.title, section.reason);
        for rule in &section.rules {
            out += &format!("  {} rule {:?}", rule.line, rule.patch);
            for (name, set) in [("unsafe", rule.is_unsafe), ("manual", rule.manual), ("shared", rule.shared)] {
                out += &if set { format!(" {name}") } else { String::new() };
            }
            for (name, value) in [
                ("sdk", &rule.sdk),
                ("style", &Some(rule.styles.join(",")).filter(|styles| !styles.is_empty())),
                ("framework", &rule.framework),
                ("option", &rule.option),
                ("rule", &rule.handler),
            ] {
                out += &value.as_ref().map(|value| format!(" {name}={value}")).unwrap_or_default();
            }
            out += "\n";
            for condition in &rule.conditions {
                out += &format!("    {} where {}\n", condition.line, condition.text);
                for alternative in &condition.any_of {
                    out += &format!("      {} or {}\n", alternative.line, alternative.text);
                }
            }
        }
        for definition in &section.definitions {
            out += &format!("  {} {} = {:?}\n", definition.line, definition.name, definition.what);
        }
        for case in section.cases() {
            out += &format!("  {} {:?} -> {:?}", case.input.line, case.input.text, case.expected());
            out += if case.is_unsafe { " unsafe" } else { "" };
            for (name, value) in
                [("style", case.style), ("sdk", case.sdk), ("file", case.file), ("option", case.option)]
            {
                out += &value.map(|value| format!(" {name}={value}")).unwrap_or_default();
            }
            out += "\n";
        }
    }
    out
}

fn outcome(text: &str) -> String {
    match Guide::parse("guides/hpu.md", text) {
        Ok(guide) => outline(&guide),
        Err(faults) => faults.iter().map(|fault| format!("{}: {}\n", fault.line, fault.message)).collect(),
    }
}

/// A page's outline or, if it has any, its errors. Line 6 is the first of `body`.
#[track_caller]
fn check(body: &str, expected: &str) {
    assert_eq!(outcome(&format!("{FRONT}{body}")), expected);
}

/// The only error of a page begins with this.
#[track_caller]
fn check_fault(body: &str, expected: &str) {
    check_fault_of_page(&format!("{FRONT}{body}"), expected);
}

/// The same for a page with front matter of its own.
#[track_caller]
fn check_fault_of_page(page: &str, expected: &str) {
    let found = outcome(page);
    assert!(found.starts_with(expected) && found.lines().count() == 1, "expected {expected:?}, found\n{found}");
}

#[test]
fn versions_and_source_are_no_reason() {
    let page = format!(
        "{FRONT}## A\nHolds for: every\n`1.x`.\n\nWhy [so](https://b.example).\n\n\
         Source: [a page](https://a.example), 1.2; [A](#a).\n\nMore.\n"
    );
    let guide = Guide::parse("guides/hpu.md", &page).expect("it is right");
    let section = &guide.sections[0];
    let read = (section.reason.as_str(), section.holds_for.as_str(), section.source.as_str());
    assert_eq!(read, ("Why so.", "every 1.x.", "a page, 1.2; A."));
    let cited: Vec<_> = section.citations.iter().map(|c| (c.text.as_str(), c.url.as_str())).collect();
    assert_eq!(cited, [("a page", "https://a.example")]);
}

#[test]
fn a_recipe_with_everything() {
    check(
        "Intro.\n\n## Move *the* `model` {#model}\nWhy `this`\nis so.\n\nMore.\n\n\
         ```diff rule unsafe shared sdk=\">=1.8, <1.20\" style=branch framework=torch option=lazy=on\n- $M.cuda()\n+ $M.to(\"hpu\")\n```\n\
         ```where\n$M: model\n\ninside def train\n```\n\
         ```python before unsafe file=a.py\nx.cuda()\n```\n\
         ```python after sdk=1.8\nx.to(\"hpu\")\n```\n\
         ```python after style=branch\n```\n\
         ```python unchanged option=lazy=on\ny\n```\n\
         ### By hand\nLook.\n```diff rule manual rule=handler\n```\n",
        "8 hpu#model Move the model: Why this is so.\n\
         \x20 15 rule \"- $M.cuda()\\n+ $M.to(\\\"hpu\\\")\\n\" unsafe shared sdk=>=1.8, <1.20 style=branch framework=torch option=lazy=on\n\
         \x20   19 where $M: model\n\
         \x20   21 where inside def train\n\
         \x20 24 \"x.cuda()\\n\" -> \"x.to(\\\"hpu\\\")\\n\" unsafe sdk=1.8 file=a.py\n\
         \x20 24 \"x.cuda()\\n\" -> \"\" unsafe style=branch file=a.py\n\
         \x20 32 \"y\\n\" -> \"y\\n\" option=lazy=on\n\
         34 hpu#by-hand By hand: Look.\n\
         \x20 37 rule \"\" manual rule=handler\n",
    );
}

#[test]
fn crlf_and_bom_change_nothing() {
    let page =
        format!("{FRONT}## A\nWhy.\n```diff rule\n- a\n+ b\n```\n```python before\na\n```\n```python after\nb\n```\n");
    let plain = outcome(&page);
    assert!(plain.contains("9 rule"), "{plain}");
    assert_eq!(outcome(&page.replace('\n', "\r\n")), plain);
    assert_eq!(outcome(&format!("\u{feff}{page}")), plain);
}

#[test]
fn anchors_come_from_titles() {
    check(
        "## `torch.compile`, and *more* (1/2)\n\n## Größe {#size}\n",
        "6 hpu#torch-compile-and-more-1-2 torch.compile, and more (1/2): \n8 hpu#size Größe: \n",
    );
    check_fault("## A\n\n## A\n", "8: anchor `a` is already used on line 6");
    check_fault("## A {#B}\n", "6: anchor `B` must be lowercase");
    check_fault("## A {#b .wide}\n", "6: a heading can have one anchor");
    check_fault("## A {#b\n", "6: a heading can have one anchor");
    check_fault("## Größe\n", "6: anchor `größe` must be lowercase");
    check_fault("## ???\n", "6: anchor `` must be");
}

#[test]
fn headings() {
    check_fault("## \n", "6: this heading has no text");
    check_fault("### {#x}\n", "6: this heading has no text");
    check_fault("# A\n", "6: headings must begin with ## or ###: the page title");
    check_fault("#### A\n", "6: headings must begin with ## or ###: only two");
}

#[test]
fn front_matter() {
    check_fault_of_page("", "1: a guide must begin with front matter: `+++`, then");
    check_fault_of_page("---\ntitle: x\n---\n", "1: front matter is TOML between two `+++` lines, not");
    check_fault_of_page("+++\ntitle = \"x\"\n", "1: the front matter has no closing `+++` line");
    check_fault_of_page(
        "+++\ntitle = \"x\"\n\ntitel = \"y\"\n+++\n",
        "4: unknown field `titel`, expected one of `title`",
    );
    assert_eq!(outcome("+++\ntitle = \"a: b\"\n+++\nText\n\n+++\n\n---\n\nMore\n"), "");
}

#[test]
fn fences() {
    check_fault("```pytorch\nx\n```\n", "6: unknown fence language `pytorch`; use one of python, ");
    check_fault("```\nx\n```\n", "6: this fence has no language");
    check_fault("    x = 1\n", "6: indented code has no language");
    check_fault("## A\n```python\nx\n", "7: unclosed fence");
    check_fault("```python", "6: unclosed fence");
    check_fault("````markdown\n```python\n```\n", "6: unclosed fence");
    check("````markdown\n```python\n```\n<b>\n````\n~~~sh\n~~~\n> ```sh\n> ls\n> ```\n", "");
    check_fault("```python befor\n```\n", "6: unknown word `befor` after `python`; use before, after, unchanged or,");
    check_fault("```diff rules\n```\n", "6: unknown word `rules` after `diff`");
    check_fault("```where x\n```\n", "6: unknown word `x` after `where`");
}

#[test]
fn rules() {
    let rule = |words: &str, body: &str| format!("## A\nWhy.\n```diff rule {words}\n{body}```\n");
    check_fault(&rule("unsave", "- a\n"), "8: unknown word `unsave` after `diff rule`; known words are");
    check_fault(&rule("unsafe=yes", "- a\n"), "8: unknown word `unsafe=yes`");
    check_fault(&rule("sdk=1.8", "- a\n"), "8: `1.8` in sdk is not a comparison");
    check_fault(&rule("sdk=\">=1.8", "- a\n"), "8: unclosed double quote in this info string");
    check_fault(&rule("style=both", "- a\n"), "8: unknown style `both`; use in-place, branch or agnostic");
    check_fault(&rule("framework=jax", "- a\n"), "8: unknown framework `jax`");
    check_fault(&rule("option=lazy", "- a\n"), "8: `option=lazy` is not `option=NAME=VALUE`");
    check_fault(&rule("rule=", "- a\n"), "8: `rule=` names no handler");
    check_fault(&rule("manual unsafe", "- a\n"), "8: a `manual` rule is never applied");
    check_fault(&rule("rule=x", "- a\n"), "8: a rule has a body or `rule=x`, not both");
    check_fault(&rule("", ""), "8: this rule is empty");
    check_fault(&rule("", "- a\n-b\n"), "10: a line of a rule begins with");
    check_fault("```diff rule\n- a\n```\n", "6: a rule needs a heading above it");
    check_fault("## A\n```diff rule\n- a\n```\n", "6: this recipe has no reason");
    check_fault("## A\nWhy.\n```where\nx\n```\n", "8: `where` must be directly below a `diff rule`");
    check_fault(&(rule("", "- a\n") + "But:\n```where\nx\n```\n"), "12: `where` must be directly below");
    check_fault(&(rule("", "- a\n") + "```where\n\n```\n"), "11: this fence has no condition");
}

#[test]
fn examples() {
    check_fault("## A\n```python after\n```\n", "7: this `after` has no `before` above it");
    check_fault("## A\n```python unchanged\n```\n```python after\n```\n", "9: this `after` has no");
    check_fault("## A\n```python before\n```\n## B\n```python unchanged\n```\n", "7: this `before` has no `after`");
    check_fault("## A\n```python before\n```\n```python unchanged\n```\n", "7: this `before` has no `after`");
    check_fault("## A\n```python before file=a.py\n```\n```python after file=b.py\n```\n", "9: `file=…` of this");
    check_fault("## A\n```python before\n```\n```python after unsafe\n```\n", "9: `unsafe` belongs on the `before`");
    check_fault("## A\n```python unchanged sdk=1.9\n```\n", "7: sdk 1.9 is not one of the page's sdks: 1.8, 1.20");
    check_fault("## A\n```python unchanged sdk=>1\n```\n", "7: sdk `>1` of an example must be one version");
    check_fault("## A\n```python unchanged file=../a.py\n```\n", "7: file `../a.py` is not a path inside");
    check_fault("## A\n```python unchanged quick\n```\n", "7: unknown word `quick` on an example");
    check_fault("```python unchanged\n```\n", "6: an example needs a heading above it");
}

#[test]
fn raw_html_is_refused_where_it_is_markup() {
    check_fault("A <b>bold</b> word\n", "6: raw HTML is not rendered");
    check_fault("<div>\nx\n</div>\n", "6: raw HTML");
    check_fault("text\n\n<!-- note -->\n", "8: raw HTML");
    check("A `<b>` and a &lt; and 1 < 2\n", "");
}

#[test]
fn all_faults_are_told_at_once() {
    check(
        "## A\nWhy.\n```diff rule unsave\n- a\n```\n```pyton\n```\n<i>x</i>\n## A\n",
        "8: unknown word `unsave` after `diff rule`; known words are unsafe, manual, shared, neutral, step, stops=step, says=MESSAGE, sdk=\"…\", style=…, framework=…, option=NAME=VALUE, rule=HANDLER\n\
         11: unknown fence language `pyton`; use one of python, text, diff, where, names, words, message, conditions, signatures, says, sh, console, json, yaml, toml, ini, markdown, dockerfile\n\
         13: raw HTML is not rendered: use Markdown, or put a literal <…> in backticks\n\
         14: anchor `a` is already used on line 6; give this heading a different {#anchor}\n",
    );
    let faults = Guide::parse("guides/hpu.md", "").unwrap_err();
    assert!(faults[0].to_string().starts_with("guides/hpu.md:1: a guide must begin"));
}

#[test]
fn definitions() {
    check(
        "## A\n```names optimizers\ntorch.optim.SGD  # without Nesterov\n\nAdam\n```\n\
         ```message step_is_split\nThe step is in {{place}},\n  too.\n```\n\
         ```python block helper\ndef f():\n    pass\n```\n\
         ```signatures\ntorch.autocast(device_type, dtype, *, enabled)\n```\n",
        "6 hpu#a A: \n\
         \x20 7 optimizers = Names([ListedName { name: \"torch.optim.SGD\", remark: \"without Nesterov\" }, \
         ListedName { name: \"Adam\", remark: \"\" }])\n\
         \x20 12 step_is_split = Message(\"The step is in {{place}}, too.\")\n\
         \x20 16 helper = Block(\"def f():\\n    pass\\n\")\n\
         \x20 21 torch.autocast = Signature([\"device_type\", \"dtype\"])\n",
    );
    check_fault("## A\n```names\na\n```\n", "7: expected one name after `names`");
    check_fault("## A\n```message No-Name\na\n```\n", "7: `No-Name` is not a name of lowercase letters");
    check_fault("## A\n```python block\na\n```\n", "7: expected one name after `python block`");
    check_fault("## A\n```message a\n```\n", "7: this fence is empty");
    check_fault("## A\n```names a\nb\nc\nb  # again\n```\n", "10: `b` is already in this list");
    check_fault("## A\n```names a\nb\n```\n## B\n```names a\nc\n```\n", "11: `a` is already defined in line 7");
    check_fault("```names a\nb\n```\n", "6: a definition needs a heading above it");
    check_fault("## A\n```signatures\ntorch.autocast\n```\n", "8: `torch.autocast` is not `module.function(");
    check_fault("## A\n```signatures\nf(a, b=1)\n```\n", "8: `b=1` is not a parameter name");
}

#[test]
fn alternatives() {
    check(
        "## A\nWhy.\n```diff rule\n  a\n```\n```where\nnot any of:\n  inside a loop\n\n  inside def f\nfile trains\n```\n",
        "6 hpu#a A: Why.\n\
         \x20 9 rule \"  a\\n\"\n\
         \x20   12 where not any of:\n\
         \x20     13 or inside a loop\n\
         \x20     15 or inside def f\n\
         \x20   16 where file trains\n",
    );
    let rule = "## A\nWhy.\n```diff rule\n  a\n```\n```where\n";
    check_fault(&format!("{rule}any of:\nfile trains\n```\n"), "12: `any of:` must be followed by its conditions");
    check_fault(&format!("{rule}file trains\n  inside a loop\n```\n"), "13: only conditions below `any of:`");
}

#[test]
fn only_reports_stop_a_step() {
    let rule = |words: &str, body: &str| format!("## A\nWhy.\n```diff rule {words}\n{body}\n```\n");
    check_fault(&rule("stops=step", "- a"), "8: `stops=…` is for rules that only report");
    check_fault(&rule("says=a", "- a"), "8: `says=…` is for rules that only report");
    check(&rule("stops=step says=a", "  a"), "6 hpu#a A: Why.\n  9 rule \"  a\\n\"\n");
    check(&rule("manual stops=step", "- a"), "6 hpu#a A: Why.\n  9 rule \"- a\\n\" manual\n");
}

#[test]
fn samples_of_messages() {
    let page = format!(
        "{FRONT}## A\nNo card.\n\nRemedy: get `one`.\n\nSource: a page.\n```says\nno such card: … of …!\n\n  another message \n```\n\
         ```says nothing\nall cards are busy\n```\n"
    );
    let guide = Guide::parse("guides/hpu.md", &page).expect("it is right");
    let section = &guide.sections[0];
    let says: Vec<_> = section.says.iter().map(|sample| (sample.line, sample.text.as_str())).collect();
    assert_eq!(says, [(13, "no such card: … of …!"), (15, "another message")]);
    assert_eq!((section.says_nothing.len(), section.says_nothing[0].line), (1, 18));
    assert_eq!((section.reason.as_str(), section.remedy.as_str()), ("No card.", "get one."));
}

#[test]
fn samples_that_would_match_anything_are_faults() {
    let check = |fence: &str, expected: &str| {
        check_fault(&format!("## A\nNo card.\n\nRemedy: get one.\n\nSource: a page.\n{fence}\n"), expected);
    };
    check("```says\n```", "12: this fence is empty");
    check("```says\nno card\n```", "13: this sample is too short");
    check("```says\nno …………… card\n```", "13: this sample is too short");
    check("```says\nno card of the kind …\n```", "13: remove the `…` at the end");
    check("```says\nno card of this kind\nno card of this kind\n```", "14: this sample is already");
    check("```says loudly\nno card of this kind\n```", "12: unknown word `loudly` after `says`");
    check("```says nothing at all\nno card of this kind\n```", "12: unknown word `nothing` after `says`");
}

#[test]
fn a_section_that_answers_messages_says_cause_remedy_and_source() {
    let fence = "```says\nno card of this kind\n```\n";
    check_fault(
        &format!("## A\nRemedy: get one.\n\nSource: b.\n{fence}"),
        "6: this section answers messages, so it needs a paragraph with the cause",
    );
    check_fault(
        &format!("## A\nWhy.\n\nSource: b.\n{fence}"),
        "6: this section answers messages, so it needs a paragraph that begins with `Remedy:`",
    );
    check_fault(
        &format!("## A\nWhy.\n\nRemedy: get one.\n{fence}"),
        "6: this section answers messages, so it needs a paragraph that begins with `Source:`",
    );
    check_fault(&format!("{fence}## A\n"), "6: samples of messages need a heading above them");
}
