//! [`forward::compute`] for JavaScript: built for wasm32-unknown-unknown, and with threads for wasm32-wasip1-threads,
//! whose standard library starts one by asking the host for it. wasm-bindgen doesn't bind the latter, so the interface is
//! C's for both; `forward.js` of the page is the other side of it.
//!
//! The host calls `compute_order` with a number of threads and the length of an order. While it is answered the program asks the host for the order,
//! the picture and the weights, by where they are to be written, and says what comes out, by where it lies: heads in
//! postcard's bytes, numbers as f32. What is said is copied before the call returns.
// Names that the host sees are promises the compiler can't check: that no other symbol of the program has them. Nor can
// it check that the host writes only where it is told.
#![allow(unsafe_code)]

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`, and so does WASI.
fn main() {}

#[cfg(target_arch = "wasm32")]
mod interface {
    use forward::{Follow, Order, Planned, Shown, compute};
    use std::borrow::Cow;
    use uresnet::{Parameters, Stage, Team, Tensor, Threads};

    #[link(wasm_import_module = "desk")]
    unsafe extern "C" {
        /// Writes the order.
        fn order(to: *mut u8);
        /// Writes the picture, so many numbers.
        fn picture(to: *mut f32, count: usize);
        /// Writes the parameter of this name, so many numbers.
        fn weight(name: *const u8, length: usize, to: *mut f32, count: usize);
        /// A [`Planned`].
        fn planned(head: *const u8, length: usize);
        /// The step of this number begins.
        safe fn before(step: usize);
        /// A [`Shown`] and its numbers.
        fn stage(head: *const u8, length: usize, numbers: *const f32, count: usize);
        /// The logits.
        fn done(numbers: *const f32, count: usize);
        /// Why there are none, as text.
        fn failed(text: *const u8, length: usize);
    }

    /// Answers an order of so many bytes with so many threads.
    // SAFETY: no other symbol has the name.
    #[unsafe(no_mangle)]
    extern "C" fn compute_order(threads: usize, bytes: usize) {
        let mut head = vec![0; bytes];
        // SAFETY: the host writes the `bytes` it has named.
        unsafe { order(head.as_mut_ptr()) };
        if let Err(problem) = answer(&head, threads) {
            // SAFETY: as long as the text is.
            unsafe { failed(problem.as_ptr(), problem.len()) };
        }
    }

    fn answer(head: &[u8], threads: usize) -> Result<(), String> {
        let order: Order = postcard::from_bytes(head).map_err(|_| "invalid order".to_string())?;
        // What the standard library keeps of its first threads would otherwise lie behind the maps, and those of the next
        // run would not fit in front of it.
        Threads(threads).run(&|_| ());
        let count = order.shape.iter().product();
        let mut input = Vec::new();
        input.try_reserve_exact(count).map_err(|_| format!("not enough memory for an image of {:?}", order.shape))?;
        input.resize(count, 0.0);
        // SAFETY: there is room for so many.
        unsafe { picture(input.as_mut_ptr(), count) };
        let input = Tensor::from_vec(&order.shape, input).ok_or("the image has a different shape")?;
        let logits = compute(&order, &Desk, &input, threads, &Desk, &mut show).map_err(|error| error.to_string())?;
        // SAFETY: the host reads so many numbers of the tensor, which outlives the call.
        unsafe { done(logits.data().as_ptr(), logits.data().len()) };
        Ok(())
    }

    /// Whom the program works for: the host.
    struct Desk;

    impl Parameters for Desk {
        fn numbers(&self, name: &str, count: usize) -> Cow<'_, [f32]> {
            let mut numbers = vec![0.0; count];
            // SAFETY: there is room for `count` numbers, and the name is as long as is said.
            unsafe { weight(name.as_ptr(), name.len(), numbers.as_mut_ptr(), count) };
            Cow::Owned(numbers)
        }
    }

    impl Follow for Desk {
        fn planned(&self, facts: Planned) {
            let head = postcard::to_allocvec(&facts).unwrap_or_default();
            // SAFETY: as long as the head is.
            unsafe { planned(head.as_ptr(), head.len()) };
        }

        fn before(&self, step: usize) {
            before(step);
        }
    }

    fn show(shown: Stage) {
        let (path, shape) = (shown.path.to_string(), shown.output.shape().to_vec());
        let head = postcard::to_allocvec(&Shown { path, plane: shown.plane, shape }).unwrap_or_default();
        let numbers = shown.output.data();
        // SAFETY: both are as long as is said.
        unsafe { stage(head.as_ptr(), head.len(), numbers.as_ptr(), numbers.len()) };
    }
}
