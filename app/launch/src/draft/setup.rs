//! The script that creates the virtual environment.

use super::command::Command;
use super::{Draft, PIP, here};
use crate::word::Word;

impl Draft<'_> {
    pub(super) fn set_up(&mut self) {
        let Some(venv) = self.value("venv") else {
            return self.problem("venv", "is required: folder for the virtual environment");
        };
        let setup = &self.table.setup;
        self.plan.title = self.text(&setup.title);
        self.enable();
        // If a module provides a Python, the environment has to use its packages.
        self.load();
        for entry in &setup.set {
            self.set(entry);
        }
        for command in setup.command.iter() {
            if self.holds(&command.when) {
                self.run(command);
            }
        }
        if let Some(file) = self.value("requirements") {
            let pip = Word::path(&format!("{}/bin/pip", here(venv)));
            let why = "the file must not name PyTorch or TensorFlow: pip would replace the vendor's";
            let command = Command::new([pip, "install".into()], PIP).flag(["-r".into(), Word::path(&here(file))], why);
            self.step(command, "The project's own packages.");
        }
    }
}
