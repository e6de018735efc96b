//! API names: every name that a recipe matches, and what becomes of it on each target.
//!
//! The site's page and the command answer from it. It reads the guides' rules and, because a handler's rule does not name what it
//! removes, their examples, which guides that are packed for a download lack.

mod dotted;
mod examples;

use crate::recipe::recipe_id;
use dotted::names;
use guide::{Defined, Definition, Guide, Rule, Section};
use sorting::{SortedMap, SortedSet};

/// What a recipe does with a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiResult {
    /// The code that takes its place, or `removed`, `rewritten`, `manual`.
    pub text: String,
    /// `hpu#model-to-device`.
    pub recipe: String,
    /// The recipe's heading.
    pub title: String,
    /// Whether [`ApiResult::text`] is code.
    pub is_code: bool,
}

/// Names, each with its results by target. Methods are `.cuda()`.
pub type ApiNames<'a> = SortedMap<String, SortedMap<&'a str, SortedSet<ApiResult>>>;

/// The recipe of a result.
struct Origin {
    recipe: String,
    title: String,
}

impl Origin {
    fn of(guide: &Guide, section: &Section) -> Origin {
        Origin { recipe: recipe_id(guide, section), title: section.title.clone() }
    }

    fn result(&self, text: &str, is_code: bool) -> ApiResult {
        ApiResult { text: text.to_string(), recipe: self.recipe.clone(), title: self.title.clone(), is_code }
    }
}

/// The entries of the guides' lists, by the list's name.
type Lists<'a> = SortedMap<&'a str, Vec<&'a str>>;

/// Every name that the recipes of these targets match.
#[must_use]
pub fn api_names<'a>(guides: &[Guide], targets: &[&'a str]) -> ApiNames<'a> {
    let mut all = ApiNames::new();
    for target in targets {
        let lists = lists(guides, target);
        for (guide, section) in sections(guides, target).filter(|(_, section)| !section.rules.is_empty()) {
            let from = Origin::of(guide, section);
            let used = examples::before(section);
            for (name, result) in section.rules.iter().flat_map(|rule| results(rule, &lists, &used, &from)) {
                all.entry(name).or_default().entry(*target).or_default().insert(result);
            }
        }
    }
    // A recipe that only changes arguments is listed for names that some recipe replaces.
    for target in targets {
        for (guide, section) in sections(guides, target) {
            let from = Origin::of(guide, section);
            let kept = section.rules.iter().filter_map(|rule| kept(rule, &from));
            let gone = examples::gone(section).into_iter().map(|name| (name, from.result("rewritten", false)));
            for (name, result) in kept.chain(gone) {
                if let Some(by_target) = all.get_mut(&name) {
                    by_target.entry(*target).or_default().insert(result);
                }
            }
        }
    }
    all
}

/// The lists that a target's rules may name.
fn lists<'a>(guides: &'a [Guide], target: &str) -> Lists<'a> {
    let shared = guides.iter().filter(|guide| guide.front.target.is_none());
    let sections = shared.chain(guides_of(guides, target)).flat_map(|guide| &guide.sections);
    let list = |definition: &'a Definition| match &definition.what {
        Defined::Names(names) => Some((&*definition.name, names.iter().map(|listed| &*listed.name).collect())),
        _ => None,
    };
    sections.flat_map(|section| &section.definitions).filter_map(list).collect()
}

/// The sections of the guides whose recipes apply to a target, those of the target that it extends first.
fn sections<'a>(guides: &'a [Guide], target: &str) -> impl Iterator<Item = (&'a Guide, &'a Section)> {
    let guides = guides_of(guides, target).into_iter();
    guides.flat_map(|guide| guide.sections.iter().map(move |section| (guide, section)))
}

pub(crate) fn guides_of<'a>(guides: &'a [Guide], target: &str) -> Vec<&'a Guide> {
    let own = || guides.iter().filter(|guide| guide.front.target.as_deref() == Some(target));
    let base = own().find_map(|guide| guide.front.extends.as_deref()).filter(|base| *base != target);
    let of_base = guides.iter().filter(|guide| base.is_some() && guide.front.target.as_deref() == base);
    of_base.chain(own()).collect()
}

/// A line of a rule as readable code: `$X.to($$$ARGS)` as `x.to(…)`, `{{option.precision}}` as `precision`.
fn as_code(line: &str) -> String {
    let mut filled = String::new();
    let mut rest = line;
    while let Some((before, (slot, after))) =
        rest.split_once("{{").and_then(|(b, rest)| Some((b, rest.split_once("}}")?)))
    {
        filled += before;
        filled += slot.rsplit(['.', ' ']).next().unwrap_or(slot);
        rest = after;
    }
    filled += rest;
    let line = filled.as_str();
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

/// The names that the rules of a section match.
#[must_use]
pub fn names_matched(section: &Section) -> SortedSet<String> {
    let used = examples::before(section);
    let patches = section.rules.iter().flat_map(|rule| spelled_out(rule, &Lists::new(), &used));
    patches.flat_map(|patch| matched_by(&patch)).collect()
}

/// A rule's patch for each name in its conditions' lists for a member, a module or a function: `torch.cuda.$NAME` with
/// `$NAME is one of Event, Stream` as `torch.cuda.Event` and `torch.cuda.Stream`. An unrestricted member is replaced by
/// those in the section's examples.
fn spelled_out(rule: &Rule, lists: &Lists<'_>, used: &SortedSet<String>) -> Vec<String> {
    let mut patches = vec![rule.patch.clone()];
    for condition in &rule.conditions {
        let Some((variable, list)) = condition.text.split_once(" is one of ") else { continue };
        let entries = list.split(',').map(str::trim).flat_map(|entry| match entry.strip_prefix('@') {
            Some(name) => lists.get(name).cloned().unwrap_or_default(),
            None => vec![entry],
        });
        let entries: Vec<&str> = entries.collect();
        let with = |patch: &String| {
            let role = Role::of(variable, patch);
            let is_name = |entry: &&&str| role.is_some_and(|role| role.admits(entry));
            let spelled: Vec<_> =
                entries.iter().filter(is_name).map(|entry| replaced(patch, variable, entry)).collect();
            // The rule's other names stand in it all the same.
            if spelled.is_empty() && role != Some(Role::Member) { vec![patch.clone()] } else { spelled }
        };
        patches = patches.iter().flat_map(with).collect();
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

/// What a metavariable stands for in a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `torch.$F`.
    Member,
    /// `$F(x)`, `$MODULE.f`.
    Head,
}

impl Role {
    fn of(variable: &str, patch: &str) -> Option<Role> {
        let around = places(patch, variable).map(|at| (&patch[..at], &patch[at + variable.len()..]));
        let role = |(before, after): (&str, &str)| match () {
            () if before.ends_with('.') => Some(Role::Member),
            () if after.starts_with(['.', '(']) => Some(Role::Head),
            () => None,
        };
        around.filter_map(role).next()
    }

    /// Whether an entry of a list can stand there as a name.
    fn admits(self, entry: &str) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || (c == '.' && self == Role::Head);
        entry.chars().all(is_name)
    }
}

/// Where a metavariable stands in a patch.
fn places<'p>(patch: &'p str, variable: &'p str) -> impl Iterator<Item = usize> + 'p {
    let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    patch.match_indices(variable).map(|(at, _)| at).filter(move |at| is_whole(&patch[at + variable.len()..]))
}

fn replaced(patch: &str, variable: &str, name: &str) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for at in places(patch, variable).filter(|_| variable.starts_with('$')) {
        out += &patch[from..at];
        out += name;
        from = at + variable.len();
    }
    out + &patch[from..]
}

/// Members of modules with a metavariable in a patch: `torch.backends.cudnn` and `$FLAG` of
/// `torch.backends.cudnn.$FLAG`.
fn open_members(patch: &str) -> SortedSet<(&str, &str)> {
    let words = patch.split(|c: char| !(c.is_alphanumeric() || "_.$".contains(c)));
    let open = words.filter_map(|word| word.rsplit_once('.')).filter(|(module, variable)| {
        let is_one = variable.strip_prefix('$').is_some_and(|name| !name.is_empty() && !name.contains('$'));
        is_one && module.contains('.') && !module.contains('$')
    });
    open.collect()
}

fn matched_by(patch: &str) -> SortedSet<String> {
    let removed = || patch.lines().filter_map(|line| line.strip_prefix('-'));
    let context = || patch.lines().filter_map(|line| line.strip_prefix(' '));
    if removed().next().is_some() {
        removed().flat_map(|line| names(line.trim())).collect()
    } else {
        context().flat_map(|line| names(line.trim())).collect()
    }
}

/// The names that a rule matches, each with its result.
fn results(rule: &Rule, lists: &Lists<'_>, used: &SortedSet<String>, from: &Origin) -> Vec<(String, ApiResult)> {
    spelled_out(rule, lists, used).iter().flat_map(|patch| results_of(rule, patch, from)).collect()
}

fn results_of(rule: &Rule, patch: &str, from: &Origin) -> Vec<(String, ApiResult)> {
    let of =
        |sign: char| -> Vec<&str> { patch.lines().filter_map(|line| line.strip_prefix(sign)).map(str::trim).collect() };
    let (gone, new) = (of('-'), of('+'));
    let removed = match rule.conditions.iter().any(|condition| condition.text.ends_with(" is unused")) {
        true => "removed if unused",
        false => "removed",
    };
    let one_line: Vec<&&str> =
        new.iter().filter(|line| !line.starts_with("import ") && !line.starts_with("from ")).collect();
    matched_by(patch)
        .into_iter()
        .filter(|name| gone.is_empty() || !new.iter().any(|line| self::names(line).contains(name)))
        .map(|name| {
            let result = match (rule.manual || new.is_empty() && gone.is_empty(), one_line.as_slice()) {
                (true, _) => from.result("manual", false),
                (_, [line]) if gone.len() == 1 && line.len() <= 60 => from.result(&chosen(rule, line), true),
                (_, []) if !gone.is_empty() => from.result(removed, false),
                _ => from.result("rewritten", false),
            };
            (name, result)
        })
        .collect()
}

/// The name of a call whose arguments a rule changes, and the resulting call.
fn kept(rule: &Rule, from: &Origin) -> Option<(String, ApiResult)> {
    let mut lines = rule.patch.lines().filter(|line| !line.starts_with("+ import "));
    let (old, new) = (lines.next()?.strip_prefix("- ")?, lines.next()?.strip_prefix("+ ")?);
    let (name, _) = old.split_once('(')?;
    let is_name = name.contains('.') && !name.contains(['$', ' ', '=']);
    let stays = new.strip_prefix(name).is_some_and(|rest| rest.starts_with('('));
    let is_one = is_name && stays && lines.next().is_none() && new.len() <= 60;
    is_one.then(|| (name.to_string(), from.result(&chosen(rule, new), true)))
}

/// A line that a rule writes, with the option under which it does.
fn chosen(rule: &Rule, line: &str) -> String {
    let choice = rule.option.as_ref().map(|choice| format!("  # {choice}"));
    as_code(line) + &choice.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Lists, Origin, kept, names, results};
    use guide::{Condition, Rule};
    use sorting::SortedSet;

    fn from() -> Origin {
        Origin { recipe: "hpu#x".to_string(), title: "X".to_string() }
    }

    fn check(patch: &str, expected: &[(&str, &str)]) {
        let rule = Rule { patch: patch.to_string(), ..Rule::default() };
        let found: Vec<(String, String)> = results(&rule, &Lists::new(), &SortedSet::new(), &from())
            .into_iter()
            .map(|(name, result)| (name, result.text))
            .collect();
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
        assert_eq!(results(&unused, &Lists::new(), &SortedSet::new(), &from())[0].1.text, "removed if unused");
        let off = Rule { option: Some("type=half".to_string()), ..rule("- a.Scaler($$$A)\n+ a.Scaler(on=False)\n") };
        let (name, result) = kept(&off, &from()).expect("it stays");
        assert_eq!((name.as_str(), result.text.as_str()), ("a.Scaler", "a.Scaler(on=False)  # type=half"));
        assert_eq!(kept(&rule("- a.b($X)\n+ c.d($X)\n"), &from()), None);
        assert_eq!(kept(&rule("- $M.b($X)\n+ $M.b($X, c=1)\n"), &from()), None);
    }

    #[test]
    fn names_of_a_list_are_names_of_their_own() {
        let of = |patch: &str, condition: &str| {
            let condition = Condition { line: 1, text: condition.to_string(), any_of: Vec::new() };
            let rule = Rule { patch: patch.to_string(), conditions: vec![condition], ..Rule::default() };
            let lists = Lists::from([("seeds", vec!["seed", "torch.seed"])]);
            results(&rule, &lists, &SortedSet::new(), &from())
                .into_iter()
                .map(|(name, result)| format!("{name}: {}", result.text))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of("- torch.cuda.$NAME\n+ torch.xpu.$NAME\n", "$NAME is one of Event, Stream"),
            ["torch.cuda.Event: torch.xpu.Event", "torch.cuda.Stream: torch.xpu.Stream"]
        );
        assert_eq!(of("  a.$NAME()\n", "$NAME is one of seed"), ["a.seed: manual"]);
        assert_eq!(
            of("- $X.cuda()\n+ $X.to({{device}}, {{option.precision}})\n", ""),
            [".cuda(): x.to(device, precision)"]
        );
        // An entry that is not a member, is longer than the variable or is negated gives no name.
        assert!(of("- $M.$NAMES\n+ $M.b\n", "$NAME is one of seed").is_empty());
        assert!(of("- a.$NAME\n+ a.b\n", "not $NAME is one of seed").is_empty());
        assert_eq!(of("- a.$NAME\n+ a.b\n", "$NAME is one of @seeds"), ["a.seed: a.b"]);
        assert_eq!(of("  $NAME($$$A)\n", "$NAME is one of @seeds"), ["torch.seed: manual"]);
        assert_eq!(of("  $M.f($$$A)\n", "$M is one of a, b.c"), ["a.f: manual", "b.c.f: manual"]);
        assert!(of("  $NAME($$$A)\n", "$NAME is one of @others").is_empty());
    }

    #[test]
    fn members_that_may_be_any_are_those_of_the_examples() {
        let condition = Condition { line: 1, text: "$F is not one of tf32".to_string(), any_of: Vec::new() };
        let patch = "- torch.backends.cudnn.$F = $V\n".to_string();
        let rule = Rule { patch, conditions: vec![condition], ..Rule::default() };
        let used = ["torch.backends.cudnn.benchmark", "torch.backends.cudnn.tf32", "torch.backends.mps.x", ".to()"];
        let used = used.map(str::to_string).into();
        let found: Vec<String> =
            results(&rule, &Lists::new(), &used, &from()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, ["torch.backends.cudnn.benchmark"]);
    }

    #[test]
    fn strings_hold_no_names() {
        assert_eq!(names("f(\"a.b\", x.y, 1.5)"), ["x.y"]);
        assert_eq!(names("self._opt.step()"), [".step()"]);
    }
}
