//! The names of the classes that contain training steps.

use crate::FileInProject;
use python::tree::Id;
use sorting::{SortedMap, SortedSet};

/// A class for each of a file's steps, `TrainingStep`; if there are several, they are named after the functions that train.
pub fn class_names(file: FileInProject<'_, '_>, wholes: &[Id]) -> Vec<String> {
    let mut in_order = wholes.to_vec();
    sorting::plain(&mut in_order);
    // Functions of different names, methods of two classes and top-level loops may all come to one name.
    let mut names: SortedMap<Id, String> = SortedMap::new();
    let mut taken: SortedSet<String> = SortedSet::new();
    // The numbers below it are taken, by steps or by other names of the file.
    let mut next_numbers: SortedMap<String, usize> = SortedMap::new();
    for whole in in_order {
        let words = file.name_of(whole).split('_').filter(|word| !word.is_empty());
        let camel: String = words
            .flat_map(|word| word.chars().enumerate().map(|(n, c)| if n == 0 { c.to_ascii_uppercase() } else { c }))
            .collect();
        let first = if wholes.len() == 1 || !camel.starts_with(char::is_alphabetic) {
            if file.has_word("TrainingStep") { "CompiledStep" } else { "TrainingStep" }.to_owned()
        } else {
            format!("{camel}Step")
        };
        let next = next_numbers.entry(first.clone()).or_insert(1);
        let name = loop {
            let name = if *next == 1 { first.clone() } else { format!("{first}{next}") };
            *next += 1;
            if !file.has_word(&name) && taken.insert(name.clone()) {
                break name;
            }
        };
        names.insert(whole, name);
    }
    wholes.iter().map(|whole| names[whole].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::class_names;
    use crate::marked;
    use python::tree::ROOT;

    #[test]
    fn the_name_of_a_steps_class() {
        let check = |program: &str, several: bool, expected: &str| {
            marked::check(program, expected, |at| {
                let wholes = if several { vec![at.node(), at.last()] } else { vec![at.last()] };
                class_names(at.file(), &wholes).pop().unwrap()
            });
        };
        check("def train_one(x):\n^^^\n    pass\n", false, "TrainingStep");
        check("TrainingStep = 1\ndef f(x):\n^^^\n    pass\n", false, "CompiledStep");
        check("def f(x):\n^^^\n    pass\ndef train_one(x):\n^^^\n    pass\n", true, "TrainOneStep");
        check("class A:\n    def fit(x):\n    ^^^\n        pass\ndef fit(x):\n^^^\n    pass\n", true, "FitStep2");
        let two = |first: &str, between: &str, last: &str, expected: &str| {
            let function = |name: &str| format!("def {name}(x):\n^^^\n    pass\n");
            check(&format!("{}{between}{}", function(first), function(last)), true, expected);
        };
        two("fit", "", "_fit", "FitStep2");
        two("fit", "FitStep2 = 1\n", "_fit", "FitStep3");
        two("fit", "FitStep = 1\n", "_fit", "FitStep3");
        two("training", "", "_2", "TrainingStep2");
        let beside_a_loop = "def training(x):\n^^^\n    pass\nfor x in y:\n^^^\n    pass\n";
        check(beside_a_loop, true, "TrainingStep2");
        marked::check("x = 1\n", "TrainingStep", |at| class_names(at.file(), &[ROOT]).remove(0));
    }
}
