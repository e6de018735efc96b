//! Running the network in the browser: a program with its own memory, called through `forward.js`.

use crate::check::work::desk::Runner;
use forward::{Follow, Order, Planned, Shown};
use js_sys::{Float32Array, Uint8Array};
use std::cell::RefCell;
use uresnet::{Stage, Tensor, Weights};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The object that `forward.js` creates from a module. Arrays that it returns are in the module's memory and are
    /// read or written there before the call returns, so nothing exists twice.
    pub(crate) type Program;

    #[wasm_bindgen(method)]
    #[allow(clippy::too_many_arguments)] // the module's imports, one by one
    fn compute(
        this: &Program,
        order: Uint8Array,
        picture: &dyn Fn(Float32Array),
        weight: &dyn Fn(String, Float32Array),
        planned: &dyn Fn(Uint8Array),
        before: &dyn Fn(u32),
        stage: &mut dyn FnMut(Uint8Array, Float32Array),
        done: &mut dyn FnMut(Float32Array),
        failed: &mut dyn FnMut(String),
    );

    #[wasm_bindgen(method)]
    fn memory(this: &Program) -> f64;
}

impl Runner for Program {
    fn run(
        &self,
        order: &Order,
        weights: &Weights,
        picture: &Tensor,
        follow: &dyn Follow,
        see: &mut dyn FnMut(Stage),
    ) -> Result<Tensor, String> {
        let head = Uint8Array::from(postcard::to_allocvec(order).unwrap_or_default().as_slice());
        let shape = RefCell::new(Vec::new());
        let (mut logits, mut problem) = (None, None);
        self.compute(
            head,
            &|to| to.copy_from(picture.data()),
            &|name, to| to.copy_from(weights.get(&name).data()),
            &|head| {
                let planned: Planned = postcard::from_bytes(&head.to_vec()).unwrap_or_default();
                shape.replace(planned.output.clone());
                follow.planned(planned);
            },
            &|step| follow.before(step as usize),
            &mut |head, numbers| {
                let Ok(Shown { path, plane, shape }) = postcard::from_bytes(&head.to_vec()) else { return };
                if let Some(output) = Tensor::from_vec(&shape, numbers.to_vec()) {
                    see(Stage { path: &path, plane, output: &output });
                }
            },
            &mut |numbers| logits = Tensor::from_vec(&shape.borrow(), numbers.to_vec()),
            &mut |why| problem = Some(why),
        );
        logits.ok_or_else(|| problem.unwrap_or_else(|| "the program gave no logits".to_string()))
    }

    fn memory(&self) -> usize {
        Program::memory(self) as usize
    }
}
