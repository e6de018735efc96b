//! What the front matter of a target's guides specifies about it.

use crate::view::FileView;
use guide::{ConfigField, FrontMatter, LedgerTerms, OptionField, Switch, TorchDevice, Variable, sdk::Requirement};
use sorting::SortedMap;

/// The front matter of a guide about its target.
#[derive(Clone, Debug, Default)]
pub struct TargetFacts {
    /// The member of a project's compute modes, in capitals.
    pub mode: String,
    /// Names of compute modes that projects use, for all targets and for other modes, in lower case.
    pub compute_modes: Vec<String>,
    /// The number that it usually has.
    pub number: Option<i64>,
    /// First parts of the names of modules that only the target's machine has.
    pub modules: Vec<String>,
    /// Those of the target that this one extends.
    pub base_modules: Vec<String>,
    /// First parts of the names of modules that only other targets' machines have, each with the usual name of that
    /// target.
    pub foreign_modules: SortedMap<String, String>,
    /// The module that loads the target's software, and its usual local name.
    pub bridge: Option<guide::Bridge>,
    /// The device that programs for several devices choose.
    pub device: Option<TorchDevice>,
    /// The name that is true where one program for all devices runs on a target which is no device of PyTorch's.
    pub switch: Option<Switch>,
    /// SDK versions in which `import torch` loads what the target needs.
    pub autoload: Option<Requirement>,
    /// The software that installs the vendor's builds of the frameworks.
    pub software: Option<String>,
    /// What starts a program on the target, if Jupyter can't.
    pub launcher: Option<String>,
    /// Target-specific terms that the ledger reads.
    pub ledger: LedgerTerms,
    /// Environment variables whose values depend on the release.
    pub variables: SortedMap<String, Variable>,
    /// Named options of its recipes.
    pub options: Vec<OptionField>,
    /// Fields that a port adds to the project's configuration.
    pub fields: Vec<ConfigField>,
}

impl TargetFacts {
    /// Adds the front matter of another guide of the target; if two differ, the first wins.
    pub fn add(&mut self, target: &str, front: &FrontMatter) -> Result<(), String> {
        if let Some(mode) = &front.mode {
            self.mode.clone_from(&mode.name);
            self.number = mode.number;
        } else if self.mode.is_empty() {
            self.mode = target.to_ascii_uppercase();
        }
        for module in &front.modules {
            if !self.modules.contains(module) {
                self.modules.push(module.clone());
            }
        }
        self.bridge = self.bridge.take().or_else(|| front.bridge.clone());
        self.device = self.device.take().or_else(|| front.device.clone());
        self.switch = self.switch.take().or_else(|| front.switch.clone());
        self.software = self.software.take().or_else(|| front.software.clone());
        self.launcher = self.launcher.take().or_else(|| front.launcher.clone());
        add_terms(&mut self.ledger, &front.ledger);
        if let Some(autoload) = &front.autoload {
            self.autoload = Some(Requirement::parse(autoload)?);
        }
        self.variables.extend(front.variables.clone());
        for option in &front.options {
            for (_, requirement) in &option.defaults {
                Requirement::parse(requirement)?;
            }
            self.options.retain(|o| o.name != option.name);
            self.options.push(option.clone());
        }
        for field in &front.fields {
            self.fields.retain(|f| f.name != field.name);
            self.fields.push(field.clone());
        }
        Ok(())
    }

    /// Whether a file imports the software of a ported training step, which a target that extends another shares with that.
    pub fn imports_step_software(&self, view: &FileView<'_>) -> bool {
        let modules = if self.base_modules.is_empty() { &self.modules } else { &self.base_modules };
        modules.iter().any(|module| view.names.imports(module))
    }

    /// Whether a file still has a PyTorch training step of the program.
    pub fn keeps_training_step(&self, view: &FileView<'_>) -> bool {
        let of_lightning = view.names.uses_framework("lightning") && view.defines("training_step");
        let trains = !view.steps.training.is_empty() && !view.names.is_of_other_framework();
        (trains || of_lightning) && !self.imports_step_software(view)
    }

    /// Adds what another target specifies and this one does not.
    pub fn extend(&mut self, base: &Self) {
        self.base_modules = base.modules.clone();
        self.modules.extend(base.modules.iter().filter(|m| !self.modules.contains(m)).cloned().collect::<Vec<_>>());
        self.bridge = self.bridge.take().or_else(|| base.bridge.clone());
        self.device = self.device.take().or_else(|| base.device.clone());
        self.software = self.software.take().or_else(|| base.software.clone());
        add_terms(&mut self.ledger, &base.ledger);
        self.autoload = self.autoload.take().or_else(|| base.autoload.clone());
        for (name, variable) in &base.variables {
            self.variables.entry(name.clone()).or_insert_with(|| variable.clone());
        }
        let own: Vec<OptionField> = std::mem::replace(&mut self.options, base.options.clone());
        for option in own {
            self.options.retain(|o| o.name != option.name);
            self.options.push(option);
        }
        let own: Vec<ConfigField> = std::mem::replace(&mut self.fields, base.fields.clone());
        for field in own {
            self.fields.retain(|f| f.name != field.name);
            self.fields.push(field);
        }
    }
}

/// Adds terms that are not set yet.
fn add_terms(terms: &mut LedgerTerms, more: &LedgerTerms) {
    fn fill<T: Clone>(term: &mut Option<T>, more: &Option<T>) {
        if term.is_none() {
            term.clone_from(more);
        }
    }
    fill(&mut terms.compiler, &more.compiler);
    fill(&mut terms.loader, &more.loader);
    fill(&mut terms.accumulation, &more.accumulation);
    fill(&mut terms.replicas, &more.replicas);
    fill(&mut terms.device_iterations, &more.device_iterations);
    fill(&mut terms.reduction, &more.reduction);
    fill(&mut terms.processes, &more.processes);
    fill(&mut terms.autocast, &more.autocast);
}

#[cfg(test)]
mod tests {
    use super::TargetFacts;
    use crate::marked;

    #[test]
    fn a_file_with_a_step_to_port() {
        let check = |program: &str, expected: bool| {
            let target = TargetFacts { modules: vec!["poptorch".to_owned()], ..TargetFacts::default() };
            marked::check(program, expected, |at| target.keeps_training_step(at.file().view));
        };
        let fit = "def fit():\n    net(x).backward()\n";
        check(fit, true);
        check(&format!("import poptorch\n{fit}"), false);
        check(&format!("import jax\n{fit}"), false);
        check("import pytorch_lightning\nclass A:\n    def training_step(self, x):\n        return net(x)\n", true);
        check("class A:\n    def training_step(self, x):\n        return net(x)\n", false);
    }
}
