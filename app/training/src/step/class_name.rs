//! The name of the class that contains a training step.

use crate::FileInProject;
use python::tree::Id;

/// A class for the step in `whole`, `TrainingStep`; if the file has `others`, it is named after the function that
/// trains.
pub fn class_name(file: FileInProject<'_, '_>, whole: Id, others: &[Id]) -> String {
    let words = file.name_of(whole).split('_').filter(|word| !word.is_empty());
    let camel: String = words
        .flat_map(|word| word.chars().enumerate().map(|(n, c)| if n == 0 { c.to_ascii_uppercase() } else { c }))
        .collect();
    // Methods of two classes may have the same name, and top-level loops have none.
    let is_taken = |other: &Id| *other < whole && file.name_of(*other) == file.name_of(whole);
    let before = others.iter().filter(|other| is_taken(other)).count();
    let name = if others.is_empty() || camel.is_empty() {
        file.free_name(&["TrainingStep", "CompiledStep"])
    } else {
        file.free_name(&[&format!("{camel}Step")])
    };
    if before > 0 { format!("{name}{}", before + 1) } else { name }
}

#[cfg(test)]
mod tests {
    use super::class_name;
    use crate::marked;
    use python::tree::ROOT;

    #[test]
    fn the_name_of_a_steps_class() {
        let check = |program: &str, several: bool, expected: &str| {
            marked::check(program, expected, |at| {
                let others = if several { vec![at.node()] } else { Vec::new() };
                class_name(at.file(), at.last(), &others)
            });
        };
        check("def train_one(x):\n^^^\n    pass\n", false, "TrainingStep");
        check("TrainingStep = 1\ndef f(x):\n^^^\n    pass\n", false, "CompiledStep");
        check("def f(x):\n^^^\n    pass\ndef train_one(x):\n^^^\n    pass\n", true, "TrainOneStep");
        check("class A:\n    def fit(x):\n    ^^^\n        pass\ndef fit(x):\n^^^\n    pass\n", true, "FitStep2");
        marked::check("x = 1\n", "TrainingStep", |at| class_name(at.file(), ROOT, &[]));
    }
}
