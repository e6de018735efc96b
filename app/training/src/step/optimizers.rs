//! Optimizers that a file makes.

use super::calls::qualified;
use python::PythonFile;
use python::names::dotted;
use python::tree::{Id, fields, kinds};

/// A call that makes an optimizer of PyTorch.
pub struct OptimizerMade<'t> {
    /// The call.
    pub call: Id,
    /// `torch.optim.AdamW`.
    pub qualified: String,
    /// The name that it is assigned to.
    pub name: Option<&'t str>,
}

impl OptimizerMade<'_> {
    /// `AdamW`.
    pub fn class(&self) -> &str {
        self.qualified.rsplit('.').next().unwrap_or(&self.qualified)
    }
}

/// The optimizers of `torch.optim` that a file makes, in the order of the text.
pub fn optimizers_made<'t>(file: &PythonFile<'t>) -> Vec<OptimizerMade<'t>> {
    let (k, f) = (kinds(), fields());
    let index = &file.index;
    let read = |call: Id| {
        let qualified = qualified(file, call)?;
        let class = qualified.strip_prefix("torch.optim.")?;
        let is_class = class.starts_with(|c: char| c.is_ascii_uppercase()) && !class.contains('.');
        let assignment = index.parent(call).filter(|p| index.kind(*p) == k.assignment);
        let left = assignment.and_then(|a| index.field(a, f.left)).filter(|l| dotted(index, *l).is_some());
        is_class.then(|| OptimizerMade { call, name: left.map(|l| index.text_of(l)), qualified: qualified.clone() })
    };
    index.of_kind(k.call).iter().copied().filter_map(read).collect()
}
