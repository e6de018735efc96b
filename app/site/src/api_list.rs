//! The API lookup page: every API name in a recipe, and what happens to it on each target.

use crate::dotted_names::names;
use crate::example_names;
use crate::filter::{self, Choice, Filter};
use crate::search::Entry;
use crate::shell::{Frame, shell};
use guide::html::escape;
use guide::{FrontMatter, Guide, Rule, Section};
use std::collections::{BTreeMap, BTreeSet};

/// A target as the page shows it.
struct Column<'a> {
    target: &'a str,
    /// Its name.
    name: String,
    /// The guides whose recipes apply to it, those of the target it extends first.
    guides: Vec<&'a Guide>,
}

/// A recipe's effect on a name, as the text and the link of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fate {
    text: String,
    /// From the page to the recipe.
    link: String,
    is_code: bool,
}

/// Names, each with its result by target.
type Rows<'a> = BTreeMap<String, BTreeMap<&'a str, BTreeSet<Fate>>>;

/// Every name that the targets' recipes match. Links are relative to a page one folder deep.
fn rows<'a>(columns: &[Column<'a>]) -> Rows<'a> {
    let mut rows: Rows<'a> = BTreeMap::new();
    for column in columns {
        for guide in &column.guides {
            for section in guide.sections.iter().filter(|section| !section.rules.is_empty()) {
                let link = format!("../guides/{}/#{}", guide.name, section.id);
                let used = example_names::before(section);
                for rule in &section.rules {
                    for (name, fate) in fates(rule, &used, &link) {
                        rows.entry(name).or_default().entry(column.target).or_default().insert(fate);
                    }
                }
            }
        }
    }
    // A recipe that only changes arguments is listed for names that some recipe replaces.
    for column in columns {
        for guide in &column.guides {
            for section in &guide.sections {
                let link = format!("../guides/{}/#{}", guide.name, section.id);
                for (name, fate) in section.rules.iter().filter_map(|rule| kept(rule, &link)) {
                    if let Some(by_target) = rows.get_mut(&name) {
                        by_target.entry(column.target).or_default().insert(fate);
                    }
                }
                let fate = Fate { text: "rewritten".to_string(), link, is_code: false };
                for name in example_names::gone(section) {
                    if let Some(by_target) = rows.get_mut(&name) {
                        by_target.entry(column.target).or_default().insert(fate.clone());
                    }
                }
            }
        }
    }
    rows
}

fn columns<'a>(guides: &'a [Guide], targets: &[&'a str]) -> Vec<Column<'a>> {
    let column = |target: &&'a str| Column { target, name: named(guides, target).1, guides: guides_of(guides, target) };
    targets.iter().map(column).collect()
}

/// The names for the search, each with its results.
fn entries(columns: &[Column<'_>], rows: Rows<'_>) -> Vec<Entry> {
    let fate_on = |(target, fates): (&&str, &BTreeSet<Fate>)| {
        let mut words: Vec<&str> = fates.iter().map(|fate| &*fate.text).collect();
        words.dedup();
        let name = columns.iter().find(|column| column.target == *target).map_or(*target, |column| &*column.name);
        format!("{name}: {}", words.join(", "))
    };
    rows.into_iter()
        .map(|(name, by_target)| Entry {
            group: "API names",
            to: format!("apis/#{}", anchor(&name)),
            place: "API lookup".to_string(),
            text: by_target.iter().map(fate_on).collect::<Vec<_>>().join("\n"),
            title: name,
        })
        .collect()
}

/// The page at `apis/`, and its search entries. `targets` are those offered by the port.
pub(crate) fn write(guides: &[Guide], targets: &[&str]) -> (String, Vec<Entry>) {
    let columns = columns(guides, targets);
    let rows = rows(&columns);
    let narrowed_by = Filter {
        items: ".apis tbody tr",
        noun: ("name", "names"),
        choices: vec![Choice {
            name: "target",
            label: "Target",
            values: targets.iter().map(|target| named(guides, target)).collect(),
        }],
    };
    let main = format!(
        "<div class=\"wrap band\">\n<div class=\"prose\">\n<h1>API lookup</h1>\n\
         <p class=\"lead\">Every API name that a recipe covers, and what happens to it on each target. Each cell links to the \
         recipe, with the reason, the SDK versions and what remains to be done by hand. An empty cell means that no \
         recipe for that target mentions the name: the code is unchanged, and remaining references to CUDA are reported.</p>\n</div>\n{}{}</div>\n",
        filter::form(&narrowed_by, rows.len()),
        table(&columns, &rows)
    );
    let page = shell(&Frame {
        path: "apis/",
        title: "API lookup",
        description: "What happens to each PyTorch, TensorFlow or Lightning API on each target, side by side.",
        head: &filter::script("../"),
        main: &main,
        ..Frame::default()
    });
    (page, entries(&columns, rows))
}

/// A target's id and name.
pub(crate) fn named(guides: &[Guide], target: &str) -> (String, String) {
    (target.to_string(), FrontMatter::target_name(target, guides.iter().map(|guide| &guide.front)))
}

fn guides_of<'a>(guides: &'a [Guide], target: &str) -> Vec<&'a Guide> {
    let own = || guides.iter().filter(|guide| guide.front.target.as_deref() == Some(target));
    let base = own().find_map(|guide| guide.front.extends.as_deref()).filter(|base| *base != target);
    let of_base = guides.iter().filter(|guide| base.is_some() && guide.front.target.as_deref() == base);
    of_base.chain(own()).collect()
}

fn table(columns: &[Column<'_>], rows: &Rows<'_>) -> String {
    let mut html = String::from(
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"APIs by target\"><table class=\"apis\">\n\
         <thead><tr><th scope=\"col\">Name</th>",
    );
    for column in columns {
        html += &format!("<th scope=\"col\">{}</th>", escape(&column.name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (name, by_target) in rows {
        let on: Vec<&str> = by_target.keys().copied().collect();
        html += &format!(
            "<tr data-words=\"{words}\" data-target=\"{}\"><th scope=\"row\" id=\"{}\"><code>{}</code></th>",
            on.join(" "),
            anchor(name),
            breakable(name),
            words = escape(name),
        );
        for column in columns {
            let cell = by_target.get(column.target).map(cell).unwrap_or_default();
            html += &format!("<td data-label=\"{}\">{cell}</td>", escape(&column.name));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// A long name is broken between its parts.
fn breakable(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    escape(first) + &escape(rest).replace('.', "<wbr>.").replace('_', "_<wbr>")
}

/// The result for a name on one target. Identical results of several recipes are shown once, with a link to each.
fn cell(fates: &BTreeSet<Fate>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut before: Option<(&str, usize)> = None;
    // Sorted by text.
    for fate in fates {
        match (&mut before, lines.last_mut()) {
            (Some((text, times)), Some(line)) if *text == fate.text => {
                *times += 1;
                *line += &format!(
                    " <a href=\"{}\" aria-label=\"{}, recipe {times}\">({times})</a>",
                    fate.link,
                    escape(&fate.text)
                );
            }
            _ => {
                let text = escape(&fate.text);
                let text = if fate.is_code { format!("<code>{}</code>", breakable(&fate.text)) } else { text };
                lines.push(format!("<a href=\"{}\">{text}</a>", fate.link));
                before = Some((&fate.text, 1));
            }
        }
    }
    lines.join("<br>")
}

/// A line of a rule as readable code: `$X.to($$$ARGS)` as `x.to(…)`.
fn as_code(line: &str) -> String {
    let mut code = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('$') {
        code += before;
        let name = after.trim_start_matches('$');
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        match after.starts_with('$') {
            true => code.push('…'),
            false => code += &name[..end].to_ascii_lowercase(),
        }
        rest = &name[end..];
    }
    code + rest
}

/// `torch.cuda.amp.GradScaler` as it is, `.cuda()` as `method-cuda`.
fn anchor(name: &str) -> String {
    match name.strip_prefix('.') {
        Some(method) => format!("method-{}", method.trim_end_matches("()")),
        None => name.to_string(),
    }
}

/// The names that the rules of a section match.
pub(crate) fn looked_for(section: &Section) -> BTreeSet<String> {
    let used = example_names::before(section);
    let patches = section.rules.iter().flat_map(|rule| spelled_out(rule, &used));
    patches.flat_map(|patch| looked_for_by(&patch)).collect()
}

/// A rule's patch for each name in its conditions' lists for a member: `torch.cuda.$NAME` with
/// `$NAME is one of Event, Stream` as `torch.cuda.Event` and `torch.cuda.Stream`. An unrestricted member is replaced by
/// those in the section's examples.
fn spelled_out(rule: &Rule, used: &BTreeSet<String>) -> Vec<String> {
    let mut patches = vec![rule.patch.clone()];
    for condition in &rule.conditions {
        let Some((variable, list)) = condition.text.split_once(" is one of ") else { continue };
        let member = format!(".{variable}");
        let names_a_member = |patch: &String| {
            let mut behind = patch.match_indices(&member).map(|(at, _)| &patch[at + member.len()..]);
            behind.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if variable.starts_with('$') && patches.iter().any(names_a_member) {
            let names: Vec<&str> = list.split(',').map(str::trim).filter(is_name).collect();
            let with = |patch: &String| names.iter().map(|name| patch.replace(variable, name)).collect::<Vec<_>>();
            patches = patches.iter().flat_map(with).collect();
        }
    }
    let is_excluded = |variable: &str, name: &str| {
        let lists = rule.conditions.iter().filter_map(|condition| condition.text.split_once(" is not one of "));
        lists.filter(|(of, _)| *of == variable).any(|(_, list)| list.split(',').any(|other| other.trim() == name))
    };
    let shown = |patch: &String| -> Vec<String> {
        let members = open_members(patch).into_iter().flat_map(|(module, variable)| {
            let members = used.iter().filter_map(move |name| name.strip_prefix(module)?.strip_prefix('.'));
            let members = members.filter(move |name| !name.contains(['.', '(']) && !is_excluded(variable, name));
            members.map(|name| patch.replace(variable, name)).collect::<Vec<_>>()
        });
        members.collect()
    };
    let shown: Vec<String> = patches.iter().flat_map(shown).collect();
    patches.into_iter().chain(shown).collect()
}

/// Members of modules with a metavariable in a patch: `torch.backends.cudnn` and `$FLAG` of
/// `torch.backends.cudnn.$FLAG`.
fn open_members(patch: &str) -> BTreeSet<(&str, &str)> {
    let words = patch.split(|c: char| !(c.is_alphanumeric() || "_.$".contains(c)));
    let open = words.filter_map(|word| word.rsplit_once('.')).filter(|(module, variable)| {
        let is_one = variable.strip_prefix('$').is_some_and(|name| !name.is_empty() && !name.contains('$'));
        is_one && module.contains('.') && !module.contains('$')
    });
    open.collect()
}

fn looked_for_by(patch: &str) -> BTreeSet<String> {
    let removed = || patch.lines().filter_map(|line| line.strip_prefix('-'));
    let context = || patch.lines().filter_map(|line| line.strip_prefix(' '));
    if removed().next().is_some() {
        removed().flat_map(|line| names(line.trim())).collect()
    } else {
        context().flat_map(|line| names(line.trim())).collect()
    }
}

/// The names that a rule matches, each with its result.
fn fates(rule: &Rule, used: &BTreeSet<String>, link: &str) -> Vec<(String, Fate)> {
    spelled_out(rule, used).iter().flat_map(|patch| fates_by(rule, patch, link)).collect()
}

fn fates_by(rule: &Rule, patch: &str, link: &str) -> Vec<(String, Fate)> {
    let of =
        |sign: char| -> Vec<&str> { patch.lines().filter_map(|line| line.strip_prefix(sign)).map(str::trim).collect() };
    let (gone, new) = (of('-'), of('+'));
    let fate = |text: &str, is_code: bool| Fate { text: text.to_string(), link: link.to_string(), is_code };
    let removed = match rule.conditions.iter().any(|condition| condition.text.ends_with(" is unused")) {
        true => "removed if unused",
        false => "removed",
    };
    let one_line: Vec<&&str> =
        new.iter().filter(|line| !line.starts_with("import ") && !line.starts_with("from ")).collect();
    looked_for_by(patch)
        .into_iter()
        .filter(|name| gone.is_empty() || !new.iter().any(|line| self::names(line).contains(name)))
        .map(|name| {
            let fate = match (rule.manual || new.is_empty() && gone.is_empty(), one_line.as_slice()) {
                (true, _) => fate("manual", false),
                (_, [line]) if gone.len() == 1 && line.len() <= 60 => fate(&chosen(rule, line), true),
                (_, []) if !gone.is_empty() => fate(removed, false),
                _ => fate("rewritten", false),
            };
            (name, fate)
        })
        .collect()
}

/// The name of a call whose arguments a rule changes, and the resulting call.
fn kept(rule: &Rule, link: &str) -> Option<(String, Fate)> {
    let mut lines = rule.patch.lines().filter(|line| !line.starts_with("+ import "));
    let (old, new) = (lines.next()?.strip_prefix("- ")?, lines.next()?.strip_prefix("+ ")?);
    let (name, _) = old.split_once('(')?;
    let is_name = name.contains('.') && !name.contains(['$', ' ', '=']);
    let stays = new.strip_prefix(name).is_some_and(|rest| rest.starts_with('('));
    let is_one = is_name && stays && lines.next().is_none() && new.len() <= 60;
    is_one.then(|| (name.to_string(), Fate { text: chosen(rule, new), link: link.to_string(), is_code: true }))
}

/// A line that a rule writes, with the option under which it does.
fn chosen(rule: &Rule, line: &str) -> String {
    let choice = rule.option.as_ref().map(|choice| format!("  # {choice}"));
    as_code(line) + &choice.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Fate, breakable, cell, fates, kept};
    use crate::dotted_names::names;
    use guide::{Condition, Rule};
    use std::collections::BTreeSet;

    fn check(patch: &str, expected: &[(&str, &str)]) {
        let rule = Rule { patch: patch.to_string(), ..Rule::default() };
        let found: Vec<(String, String)> =
            fates(&rule, &BTreeSet::new(), "x").into_iter().map(|(name, fate)| (name, fate.text)).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(found, expected, "{patch}");
    }

    #[test]
    fn what_becomes_of_names() {
        check("- $M.cuda()\n+ $M.to(\"hpu\")\n", &[(".cuda()", "m.to(\"hpu\")")]);
        check("- torch.cuda.empty_cache()\n", &[("torch.cuda.empty_cache", "removed")]);
        check("  torch.jit.script($$$A)\n", &[("torch.jit.script", "manual")]);
        check("- a.b($X)\n+ if $X:\n+     c.d()\n", &[("a.b", "rewritten")]);
        check("- a.b($$$A, $X)\n+ c.d($X, $$$A, k=$X_1)\n", &[("a.b", "c.d(x, …, k=x_1)")]);
        // A name that is kept is not the subject of the rule.
        check("- a.b($X)\n+ a.b($X, c=1)\n", &[]);
        check("", &[]);
        // A method in a condition is not a name of the rule.
        check("- $M.$RUN($X)\n+ $X\n", &[]);
    }

    #[test]
    fn what_is_removed_or_kept_says_when() {
        let condition = Condition { line: 1, text: "$S is unused".to_string(), any_of: Vec::new() };
        let rule = |patch: &str| Rule { patch: patch.to_string(), ..Rule::default() };
        let unused = Rule { conditions: vec![condition], ..rule("- $S = a.Scaler($$$A)\n") };
        assert_eq!(fates(&unused, &BTreeSet::new(), "x")[0].1.text, "removed if unused");
        let off = Rule { option: Some("type=half".to_string()), ..rule("- a.Scaler($$$A)\n+ a.Scaler(on=False)\n") };
        let (name, fate) = kept(&off, "x").expect("it stays");
        assert_eq!((name.as_str(), fate.text.as_str()), ("a.Scaler", "a.Scaler(on=False)  # type=half"));
        assert_eq!(kept(&rule("- a.b($X)\n+ c.d($X)\n"), "x"), None);
        assert_eq!(kept(&rule("- $M.b($X)\n+ $M.b($X, c=1)\n"), "x"), None);
    }

    #[test]
    fn names_of_a_list_are_names_of_their_own() {
        let of = |patch: &str, condition: &str| {
            let condition = Condition { line: 1, text: condition.to_string(), any_of: Vec::new() };
            let rule = Rule { patch: patch.to_string(), conditions: vec![condition], ..Rule::default() };
            fates(&rule, &BTreeSet::new(), "x")
                .into_iter()
                .map(|(name, fate)| format!("{name}: {}", fate.text))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of("- torch.cuda.$NAME\n+ torch.xpu.$NAME\n", "$NAME is one of Event, Stream"),
            ["torch.cuda.Event: torch.xpu.Event", "torch.cuda.Stream: torch.xpu.Stream"]
        );
        assert_eq!(of("  a.$NAME()\n", "$NAME is one of seed"), ["a.seed: manual"]);
        // An entry that is not a member, is longer than the variable or is negated gives no name.
        assert!(of("- $M.$NAMES\n+ $M.b\n", "$NAME is one of seed").is_empty());
        assert!(of("- a.$NAME\n+ a.b\n", "not $NAME is one of seed").is_empty());
        assert!(of("- a.$NAME\n+ a.b\n", "$NAME is one of @seeds").is_empty());
    }

    #[test]
    fn members_that_may_be_any_are_those_of_the_examples() {
        let condition = Condition { line: 1, text: "$F is not one of tf32".to_string(), any_of: Vec::new() };
        let patch = "- torch.backends.cudnn.$F = $V\n".to_string();
        let rule = Rule { patch, conditions: vec![condition], ..Rule::default() };
        let used = ["torch.backends.cudnn.benchmark", "torch.backends.cudnn.tf32", "torch.backends.mps.x", ".to()"];
        let used = used.map(str::to_string).into();
        let found: Vec<String> = fates(&rule, &used, "x").into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, ["torch.backends.cudnn.benchmark"]);
    }

    #[test]
    fn what_several_recipes_do_alike_is_said_once() {
        let fate = |text: &str, link: &str| Fate { text: text.to_string(), link: link.to_string(), is_code: false };
        let fates = BTreeSet::from([fate("rewritten", "#a"), fate("removed", "#b"), fate("rewritten", "#c")]);
        assert_eq!(
            cell(&fates),
            "<a href=\"#b\">removed</a><br><a href=\"#a\">rewritten</a> \
             <a href=\"#c\" aria-label=\"rewritten, recipe 2\">(2)</a>"
        );
    }

    #[test]
    fn a_name_breaks_inside_and_not_before_its_first_part() {
        assert_eq!(breakable(".load_state_dict()"), ".load_<wbr>state_<wbr>dict()");
        assert_eq!(breakable("torch.cuda"), "torch<wbr>.cuda");
    }

    #[test]
    fn strings_hold_no_names() {
        assert_eq!(names("f(\"a.b\", x.y, 1.5)"), ["x.y"]);
        assert_eq!(names("self._opt.step()"), [".step()"]);
    }
}
