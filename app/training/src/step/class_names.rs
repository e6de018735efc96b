//! The names of the classes that contain training steps.

use crate::FileInProject;
use python::tree::Id;
use sorting::SortedMap;

/// A class for each of a file's steps, `TrainingStep`; if there are several, they are named after the functions that train.
pub fn class_names(file: FileInProject<'_, '_>, wholes: &[Id]) -> Vec<String> {
    // Methods of two classes may have the same name, and top-level loops have none.
    let mut of_name: SortedMap<&str, Vec<Id>> = SortedMap::new();
    for whole in wholes {
        of_name.entry(file.name_of(*whole)).or_default().push(*whole);
    }
    of_name.values_mut().for_each(|same| sorting::plain(same));
    let class_name = |whole: &Id| {
        let words = file.name_of(*whole).split('_').filter(|word| !word.is_empty());
        let camel: String = words
            .flat_map(|word| word.chars().enumerate().map(|(n, c)| if n == 0 { c.to_ascii_uppercase() } else { c }))
            .collect();
        let name = if wholes.len() == 1 || camel.is_empty() {
            file.free_name(&["TrainingStep", "CompiledStep"])
        } else {
            file.free_name(&[&format!("{camel}Step")])
        };
        let before = of_name.get(file.name_of(*whole)).map_or(0, |same| same.partition_point(|other| other < whole));
        if before > 0 { format!("{name}{}", before + 1) } else { name }
    };
    wholes.iter().map(class_name).collect()
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
        marked::check("x = 1\n", "TrainingStep", |at| class_names(at.file(), &[ROOT]).remove(0));
    }
}
