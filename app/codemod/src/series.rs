//! A port in steps that can be reviewed and applied one after another: each accepts one more recipe.
//!
//! A step is a port of the original with the recipes accepted so far, not a selection of the edits of the whole port: so
//! it has passed the gate of a port, and edits to the same lines, or to the same import, need no merging.

use crate::port::{port, port_traced};
use crate::ported::{Options, Ported, SourceFile};
use crate::recipe::{RecipeInfo, RecipeSet};
use python::Tree;
use python::scopes::unbound;
use sorting::SortedSet;

/// A step of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesStep {
    /// Ids of the recipes that were accepted for it: one, with those that it needs.
    pub recipes: Vec<String>,
    /// The port with these recipes and those of the steps before. In the last step, it has the texts of the whole port.
    pub ported: Ported,
}

/// The steps of a port, in the order of the guides; a recipe that depends on later ones comes after them, and one whose
/// code reads a name comes with the one that binds it. None if the port changes nothing. Pure, as [`port`] is; takes about
/// as long as one port for each step.
#[must_use]
pub fn series(files: &[SourceFile], recipes: &RecipeSet, options: &Options) -> Vec<SeriesStep> {
    let (whole, trace) = port_traced(files, recipes, options);
    // A file that a port adds belongs to the step whose code imports it.
    let of_rules = |recipe: &&RecipeInfo| !recipe.manual && !recipes.is_file(&options.target, &recipe.id);
    let changing: Vec<&String> =
        recipes.recipes_for(&options.target).iter().filter(of_rules).map(|recipe| &recipe.id).collect();
    let with = |accepted: &[&String]| {
        let others = changing.iter().filter(|id| !accepted.contains(id)).map(|id| (*id).clone());
        let rejected_recipes = options.rejected_recipes.iter().cloned().chain(others).collect();
        port(files, recipes, &Options { rejected_recipes, ..options.clone() })
    };
    let mut texts = Texts::of_files(files);
    let last = Texts::of(&whole);
    let mut bound_nowhere = texts.unbound();
    bound_nowhere.extend(last.unbound());
    let lacks_names = |texts: &Texts| texts.unbound().iter().any(|name| !bound_nowhere.contains(name));
    let has_fired = |id: &&&String| trace.fired.iter().any(|(recipe, _)| recipe == **id);
    let candidates: Vec<&String> = changing.iter().filter(has_fired).copied().collect();
    let mut accepted: Vec<&String> = Vec::new();
    let mut steps: Vec<SeriesStep> = Vec::new();
    loop {
        let made = steps.len();
        for id in &candidates {
            if accepted.contains(id) || texts == last {
                continue;
            }
            let known = accepted.len();
            accepted.push(id);
            let mut ported = with(&accepted);
            if Texts::of(&ported) == texts {
                accepted.pop();
                continue;
            }
            if lacks_names(&Texts::of(&ported)) {
                let others = candidates.iter().filter(|other| !accepted.contains(other));
                let tried = others.map(|other| (other, with(&[&accepted[..], &[*other]].concat())));
                let Some((other, both)) = tried.into_iter().find(|(_, both)| !lacks_names(&Texts::of(both))) else {
                    accepted.pop();
                    continue;
                };
                accepted.push(other);
                ported = both;
            }
            texts = Texts::of(&ported);
            let recipes = accepted[known..].iter().map(|id| (*id).clone()).collect();
            steps.push(SeriesStep { recipes, ported });
        }
        if steps.len() == made {
            break;
        }
    }
    if texts != last {
        let rest = candidates.into_iter().filter(|id| !accepted.contains(id));
        steps.push(SeriesStep { recipes: rest.cloned().collect(), ported: whole });
    }
    steps
}

/// The texts of a project's files, with their paths.
#[derive(PartialEq)]
struct Texts(Vec<(String, String)>);

impl Texts {
    fn of_files(files: &[SourceFile]) -> Self {
        Self(files.iter().map(|file| (file.path.clone(), file.text.clone())).collect())
    }

    fn of(ported: &Ported) -> Self {
        Self(ported.files.iter().map(|file| (file.path.clone(), file.text.clone())).collect())
    }

    /// Names without a value, each with its file.
    fn unbound(&self) -> SortedSet<(String, String)> {
        let mut out = SortedSet::new();
        for (path, text) in self.0.iter().filter(|(path, _)| python::is_python(path)) {
            let tree = Tree::parse(text);
            out.extend(unbound(&tree.index()).iter().map(|unbound| (path.clone(), unbound.name.to_owned())));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::series;
    use crate::{Options, RecipeSet, SourceFile, port};

    /// The recipe and the new lines of each step.
    fn check(target: &str, text: &str, expected: &[(&str, &str)]) {
        let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
        let options = Options { target: target.to_owned(), ..Options::default() };
        let (files, set) = (std::slice::from_ref(&file), RecipeSet::embedded());
        let steps = series(files, set, &options);
        let mut before = text;
        let mut found = Vec::new();
        for step in &steps {
            let now = &step.ported.files[0].text;
            let new: Vec<&str> = now.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
            found.push((step.recipes.join(" "), new.join("\n")));
            before = now;
        }
        let found: Vec<(&str, &str)> = found.iter().map(|(recipe, new)| (recipe.as_str(), new.as_str())).collect();
        assert_eq!(found, expected);
        assert_eq!(before, port(files, set, &options).files[0].text, "the last step is the port");
    }

    #[test]
    fn a_recipe_is_a_step_with_the_import_that_it_needs() {
        check(
            "hpu",
            "import torch\n\nnet = build().cuda()\nprint(torch.cuda.device_count())\n",
            &[
                ("hpu#load-bridge", "import os\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")"),
                ("hpu#is-available", "print(torch.hpu.device_count() if hasattr(torch, \"hpu\") else 0)"),
                ("hpu#model-to-device", "net = build().to(\"hpu\")"),
            ],
        );
    }

    #[test]
    fn a_recipe_comes_with_the_one_that_binds_its_names() {
        let text = "import torch\n\nnet = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), 0.1)\n\n\n\
            def train(loader):\n    for x, y in loader:\n        opt.zero_grad()\n        \
            loss = torch.nn.functional.mse_loss(net(x), y)\n        loss.backward()\n        opt.step()\n";
        let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
        let options = Options { target: "rdu".to_owned(), ..Options::default() };
        let steps = series(&[file], RecipeSet::embedded(), &options);
        let order: Vec<String> = steps.iter().map(|step| step.recipes.join(" ")).collect();
        assert_eq!(order, ["rdu#compile-step rdu#imports"]);
    }

    #[test]
    fn what_changes_nothing_has_no_steps() {
        check("hpu", "x = 1\n", &[]);
    }
}
