use super::{is_guide, read, split};
use crate::error::Faults;
use crate::model::{FrontMatter, OptionKind};

fn read_page(text: &str) -> (FrontMatter, String) {
    let mut faults = Faults::of("guides/t.md");
    let front = read(split(text).expect("it has front matter").0, &mut faults);
    let told = faults.into_sorted().iter().map(|fault| format!("{}: {}\n", fault.line, fault.message)).collect();
    (front, told)
}

#[track_caller]
fn check_faults(text: &str, expected: &str) {
    assert_eq!(read_page(text).1, expected);
}

/// `[option.lazy]` with these lines below its label is rejected with a message that begins like this.
#[track_caller]
fn check_option_fault(lines: &str, expected: &str) {
    let found =
        read_page(&format!("+++\ntitle = \"T\"\ntarget = \"t\"\n[option.lazy]\nlabel = \"Lazy mode\"\n{lines}\n+++\n"))
            .1;
    assert!(found.starts_with(expected) && found.lines().count() == 1, "expected {expected:?}, found\n{found}");
}

#[test]
fn fences() {
    assert!(split("").unwrap_err().starts_with("a guide must begin with front matter: `+++`"));
    assert!(split("---\ntitle: x\n---\n").unwrap_err().starts_with("front matter is TOML between two `+++` lines"));
    assert_eq!(split("+++\ntitle = \"x\"\n").unwrap_err(), "the front matter has no closing `+++` line");
    assert_eq!(split("+++\na = 1\n+++\nb\n+++\n").unwrap(), ("a = 1\n", 14));
}

#[test]
fn all_that_is_wrong_with_values_is_told_at_once() {
    check_faults(
        "+++\ntarget = \"H P\"\nsdks = [\n  \"1.20\",\n  \"1.8\",\n  \"new\",\n]\nmode = { name = \"Ipu\" }\nautoload = \"1.20\"\n+++\n",
        "1: the front matter has no title: add a line `title = \"…\"`\n\
         2: target `H P` is not a name of lowercase letters and digits\n\
         5: sdks must be sorted from oldest to newest; the last is the default\n\
         6: `new` in sdks is not a version such as 1.20\n\
         8: mode `Ipu` is not a name in capitals, such as `GPU`\n\
         9: `1.20` in sdk is not a comparison such as >=1.20 or <1.20\n",
    );
    check_faults(
        "+++\ntitle = \"T\"\nextends = \"ipu\"\n+++\n",
        "1: `name`, `extends`, `option` and `field` require a `target`\n",
    );
}

#[test]
fn what_is_not_toml_or_not_known() {
    check_faults(
        "+++\ntitle = \"T\"\ntitel = \"U\"\n+++\n",
        "3: unknown field `titel`, expected one of `title`, `target`, `name`, `description`, `sdks`, `order`, `extends`, `mode`, `compute_modes`, \
         `modules`, `bridge`, `device`, `switch`, `autoload`, `software`, `launcher`, `ledger`, `variable`, `facts`, `launch`, `option`, `field`\n",
    );
    check_faults("+++\ntitle = \"T\"\ntitle = \"U\"\n+++\n", "3: duplicate key\n");
    check_faults("+++\ntitle = \"T\"\norder = \"first\"\n+++\n", "3: invalid type: string \"first\", expected u32\n");
    check_faults(
        "+++\ntitle = \"T\"\nmode = { nmae = \"T\" }\n+++\n",
        "3: unknown field `nmae`, expected `name` or `number`\n",
    );
}

#[test]
fn options_and_fields_stand_as_on_the_page() {
    let (front, told) = read_page(
        "+++\ntitle = \"T\"\ntarget = \"t\"\n\
         [option.lazy]\nlabel = \"Lazy mode\"\nvalues = [\"on\", \"off\"]\ndefault = \"off\"\n\
         default_for = [{ sdk = \">=1.13,<1.20\", value = \"on\" }]\n\
         [option.cards]\nlabel = \"Cards\"\nvalues = \"number\"\ndefault = \"4\"\n\
         [field.lazy_mode]\ntype = \"bool\"\ndefault = \"{{option.lazy}}\"\nfallback = \"True\"\n\
         [field.cards]\ntype = \"int\"\ndefault = \"{{option.cards}}\"\nfallback = \"1\"\n+++\n",
    );
    assert_eq!(told, "");
    let [lazy, cards] = &front.options[..] else { panic!("{front:?}") };
    let defaults: Vec<_> = lazy.defaults.iter().map(|(value, sdk)| (value.as_str(), sdk.as_str())).collect();
    assert_eq!((lazy.name.as_str(), lazy.line, &defaults[..]), ("lazy", 4, &[("on", ">=1.13,<1.20"), ("off", "")][..]));
    assert_eq!(lazy.kind, OptionKind::OneOf(vec!["on".to_string(), "off".to_string()]));
    assert_eq!((cards.name.as_str(), &cards.kind), ("cards", &OptionKind::Number));
    let fields: Vec<_> = front.fields.iter().map(|field| (field.name.as_str(), field.annotation.as_str())).collect();
    assert_eq!(fields, [("lazy_mode", "bool"), ("cards", "int")]);
}

#[test]
fn options_are_held_to_their_values() {
    check_option_fault(
        "values = [\"on\"]\ndefault = \"auto\"",
        "7: the default `auto` is not a value of option `lazy`",
    );
    for wrong in ["", "3x", "banana", "3x4,", "scalar x 3"] {
        let fault = format!("7: the default `{wrong}` is not a value of option `lazy`");
        check_option_fault(&format!("values = \"shapes\"\ndefault = \"{wrong}\""), &fault);
    }
    check_option_fault("values = \"number\"\ndefault = \"0\"", "7: the default `0` is not a value of option `lazy`");
    check_option_fault(
        "values = \"digits\"\ndefault = \"0\"",
        "6: `values` must be a list of strings, \"number\" or \"shapes\"",
    );
    check_option_fault("values = \"shapes\"", "4: missing field `default`");
    check_option_fault(
        "values = \"shapes\"\ndefault = \"ask\"\ndefault_for = [{ sdk = \"1.20\", value = \"3x4\" }]",
        "8: `1.20` in sdk is not a comparison",
    );
}

#[test]
fn guides_among_other_texts() {
    let check = |text: &str, expected: bool| assert_eq!(is_guide(text), expected, "{text:?}");
    check("+++\ntitle = \"T\"\ntarget = \"hpu\"\n+++\n", true);
    check("\u{feff}+++\r\ntarget=\"hpu\"\r\n", true);
    check("+++\ntitle = \n+++\n\n```diff rule\n- a\n```\n", true);
    check("---\ntitle: T\n---\n\n```diff rule unsafe\n- a\n```\n", true);
    check("# Project\n\n```diff rule\n- a\n```\n", false);
    check("+++\ntitle = \"A post\"\ntargets = 1\n+++\n\nA target = 1.\n", false);
    check("+++\ntitle = \"A post\"\n+++ \n\n```toml\ntarget = 1\n```\n", false);
    check("---\ntarget = 1\n---\n", false);
    check("", false);
}
