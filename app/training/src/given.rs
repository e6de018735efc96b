//! Which short strings the files of a project assign to which names: `backend="gloo"`, and the default of `--backend`;
//! under which names they save files; and which of their constants are 0.

use crate::loading::module_name;
use crate::step::value_once;
use crate::view::FileView;
use python::names::called_name;
use python::numbers::is_zero;
use python::strings::plain_string;
use python::tree::{Id, fields, kinds};
use sorting::SortedSet;

/// Names, without the object that they are attributes of, and strings: `backend=gloo`. A file name that is passed to a
/// function that saves has no name: `=best.pt`.
#[derive(Debug, Default)]
pub struct Given {
    strings: SortedSet<String>,
    zeros: SortedSet<String>,
}

impl Given {
    pub(crate) fn collect(views: &[&FileView<'_>]) -> Self {
        let (mut given, mut zeros, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for view in views {
            for assignment in view.index.assignments().filter(|a| view.function_of(a.id()).is_none()) {
                let (Some(target), Some(value)) = (assignment.target(), assignment.value()) else { continue };
                let constant = format!("{}.{}", module_name(view.path).unwrap_or_default(), view.index.text_of(target));
                if is_zero(view.index.text_of(value)) { &mut zeros } else { &mut others }.push(constant);
            }
            for &string in view.index.of_kind(kinds().string) {
                if let Some(text) = plain_string(&view.index, string).filter(|text| text.len() <= 16)
                    && let Some(name) = name_given(view, string)
                {
                    given.push(format!("{name}={text}"));
                }
            }
            let saves = |call: &Id| called_name(&view.index, *call).is_some_and(|name| name.starts_with("save"));
            for &call in view.index.of_kind(kinds().call).iter().filter(|call| saves(call)) {
                let names = view.index.arguments(call).ids().flat_map(|id| file_names(view, id));
                given.extend(names.map(|name| format!("={name}")));
            }
        }
        let others: SortedSet<String> = others.into_iter().collect();
        let zeros = zeros.into_iter().filter(|constant| !others.contains(constant)).collect();
        Self { strings: given.into_iter().collect(), zeros }
    }

    /// Whether an expression is 0, or the name of a constant of the project that is.
    pub fn is_zero(&self, view: &FileView<'_>, expression: Id) -> bool {
        let index = &view.index;
        let qualified = view.names.qualify(index, expression).unwrap_or_default();
        let mut parts = qualified.rsplitn(3, '.');
        let constant = parts.next().zip(parts.next()).map(|(name, module)| format!("{module}.{name}"));
        is_zero(index.text_of(value_once(view, expression)))
            || constant.is_some_and(|constant| self.zeros.contains(&constant))
    }

    /// Whether some file assigns a string to the name of an expression: to `backend` for `args.backend`,
    /// `settings["backend"]` and the key `"backend"` itself.
    pub fn gives(&self, view: &FileView<'_>, expression: Id, text: &str) -> bool {
        last_name(view, expression).is_some_and(|name| self.strings.contains(&format!("{name}={text}")))
    }

    /// Whether some file saves a file under a name in an expression.
    pub fn saves(&self, view: &FileView<'_>, expression: Id) -> bool {
        file_names(view, expression).iter().any(|name| self.strings.contains(&format!("={name}")))
    }
}

/// Names of files, with an extension, in an expression or in what is assigned to its name.
fn file_names<'t>(view: &FileView<'t>, expression: Id) -> Vec<&'t str> {
    let index = &view.index;
    let name = index.text_of(expression);
    let assigned = view.index.bindings(name).iter().copied().filter_map(|b| index.assignment(b)?.value_of(name));
    let strings = std::iter::once(expression).chain(assigned).flat_map(|id| index.of_kind_in(kinds().string, id));
    let names = strings.filter_map(|s| plain_string(index, *s)?.rsplit('/').next());
    names.filter(|name| name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty())).collect()
}

fn last_name<'t>(view: &FileView<'t>, expression: Id) -> Option<&'t str> {
    let index = &view.index;
    let kind = index.kind(expression);
    if kind == kinds().string {
        return plain_string(index, expression);
    }
    if kind == kinds().subscript {
        return plain_string(index, index.field(expression, fields().subscript)?);
    }
    index.text_of(expression).rsplit('.').next()
}

/// The name to which a string is assigned, alone or as one of two.
fn name_given(view: &FileView<'_>, string: Id) -> Option<String> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let through = [k.conditional_expression, k.parenthesized_expression, k.boolean_operator];
    let holder = index.ancestors(string).find(|a| !through.contains(&index.kind(*a)))?;
    let kind = index.kind(holder);
    if kind == k.assignment {
        return index.target(holder).and_then(|target| last_name(view, target)).map(str::to_owned);
    }
    if [k.default_parameter, k.typed_default_parameter].contains(&kind) {
        return index.field(holder, f.name).map(|name| index.text_of(name).to_owned());
    }
    if kind == k.pair {
        return index.field(holder, f.key).and_then(|key| plain_string(index, key)).map(str::to_owned);
    }
    let name = index.keyword_name(holder)?;
    let call = index
        .ancestors(holder)
        .nth(1)
        .filter(|call| name == "default" && called_name(index, *call) == Some("add_argument"));
    let options =
        call.into_iter().flat_map(|call| index.arguments(call).positional()).filter_map(|o| plain_string(index, o));
    let option = options.max_by_key(|option| option.len());
    Some(option.map_or_else(|| name.to_owned(), |option| option.trim_start_matches('-').replace('-', "_")))
}

#[cfg(test)]
mod tests {
    use crate::marked;

    #[test]
    fn strings_that_some_file_gives_a_name() {
        let check = |given: &str, expected: bool| {
            let program = format!("f(args.backend)\n  ^^^^^^^^^^^^\n#- other.py\n{given}\n");
            marked::check(&program, expected, |at| at.project.given.gives(at.file().view, at.node(), "gloo"));
        };
        check("backend = 'gloo'", true);
        check("backend = 'gloo' if a else 'nccl'", true);
        check("parser.add_argument('--backend', default='gloo')", true);
        check("def f(backend='gloo'):\n    pass", true);
        check("settings = {'backend': 'gloo'}", true);
        check("backend = 'mpi'", false);
        check("name = 'gloo'", false);
    }

    #[test]
    fn constants_that_are_0() {
        let check = |constants: &str, expected: bool| {
            let program = format!("from constants import RANK\nf(RANK)\n  ^^^^\n#- constants.py\n{constants}\n");
            marked::check(&program, expected, |at| at.project.given.is_zero(at.file().view, at.node()));
        };
        check("RANK = 0", true);
        check("RANK = 1", false);
        check("RANK = 0\nRANK = 1", false);
        check("def f():\n    RANK = 0", false);
    }

    #[test]
    fn files_that_some_file_saves() {
        let check = |saves: &str, expected: bool| {
            let program = format!("f('runs/best.pt')\n  ^^^^^^^^^^^^^^\n#- other.py\n{saves}\n");
            marked::check(&program, expected, |at| at.project.given.saves(at.file().view, at.node()));
        };
        check("torch.save(net, 'best.pt')", true);
        check("path = out + '/best.pt'\nsave_all(path)", true);
        check("torch.load('best.pt')", false);
    }
}
