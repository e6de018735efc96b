use super::{read_site, read_targets};

const SITE: &str = r#"
name = "any"
title = "Any machine"
status = "template"
source = "https://example.org/"
targets = ["hpu"]
schedulers = ["bash", "slurm", "pbs"]
request = "--gres=gpu:{devices}"
"#;

#[test]
fn a_broken_site_says_what_is_wrong() {
    assert!(read_site(SITE, &["hpu"]).is_ok());
    let check = |text: &str, said: &str| {
        let fault = read_site(text, &["hpu"]).expect_err("refused").to_string();
        assert!(fault.contains(said), "{fault}");
    };
    check(&SITE.replace("title =", "titel ="), "line 3: unknown field `titel`");
    check("name = 3", "line 1");
    check(&SITE.replace("[\"hpu\"]", "[\"tpu\"]"), "`tpu` is not one of hpu");

    let with = |line: &str| SITE.replace("title =", &format!("{line}\ntitle ="));
    check(&with("enable = [\"{nothing}/x\"]"), "`{nothing}` is used");
    check(&with("enabled_by = \"A; rm\""), "not a variable name");
    check(&with("settings = [{ name = \"A B\", value = \"1\", why = \"x\" }]"), "not a variable name");
    check(&with("enable = [\"{nothing/x\"]"), "an unclosed {");
    check(&with("enable = [\"a$/x\"]"), "a $ without a variable name");
    check(&SITE.replace("{devices}", "{kind}"), "`{kind}` is used");
    check(&SITE.replace("--gres=", "gres="), "an sbatch option");
    check(&SITE.replace("--gres=", "--gres=a\\n"), "more than one line");
    check(&with("field = [{ name = \"entry\", label = \"x\" }]"), "no option of the command");
    check(&with("field = [{ name = \"a\", label = \"x\" }, { name = \"a\", label = \"y\" }]"), "duplicate field `a`");
}

#[test]
fn a_target_says_what_the_one_it_extends_does_not() {
    let guide = |path: &str, text: &str| (path.to_string(), text.to_string());
    let base =
        guide("a.md", "target = \"a\"\norder = 2\nsdks = [\"1\"]\n[launch]\ndevice = \"card\"\ntitle = \"One\"\n");
    let more = guide(
        "b.md",
        "target = \"b\"\norder = 1\nextends = \"a\"\nmode = { name = \"BB\" }\n[launch]\ntitle = \"Two\"\n[[launch.command]]\n\
         words = [\"x {a}\", { words = [\"-y\"], why = \"z\" }]\n",
    );
    let prose = guide("c.md", "title = \"Of no target\"\n");
    let targets = read_targets(&[base.clone(), more.clone(), prose]).expect("good");
    let said: Vec<_> = targets.iter().map(|t| (&*t.name, &*t.member, &*t.launch.device, &*t.launch.title)).collect();
    assert_eq!(said, [("b", "bb", "card", "Two"), ("a", "a", "card", "One")]);

    let check = |text: &str, said: &str| {
        let faults = read_targets(&[base.clone(), guide("b.md", text)]).expect_err("refused");
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("b.md:") && faults[0].contains(said), "{faults:?}");
    };
    check("target = \"b\"\n[launch]\ntitel = \"x\"\n", "4: unknown field `titel`");
    check(&more.1.replace("words = [\"x", "when = \"weekends\"\nwords = [\"x"), "unknown condition `weekends`");
}
