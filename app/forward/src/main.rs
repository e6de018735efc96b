//! [`forward::compute`] for JavaScript: built for wasm32-unknown-unknown, and with threads for wasm32-wasip1-threads,
//! whose standard library starts threads through the host. wasm-bindgen doesn't support the latter, so the interface is
//! C's for both; the page's `forward.js` is the other side of it.
//!
//! The host calls `compute_order` with a number of threads and the length of a request. During the call the program
//! requests the request's bytes, the image and the weights from the host, passing the addresses to write to, and
//! reports results by their addresses: headers as postcard bytes, values as f32. The host copies them before the call
//! returns.
// The compiler can't check two guarantees: that no other symbol of the program has the names that the host uses, and
// that the host writes only to the addresses that it receives.
#![allow(unsafe_code)]

/// Only runs in a browser; `cargo build` of the whole workspace still requires a `main`, and so does WASI.
fn main() {}

#[cfg(target_arch = "wasm32")]
mod interface {
    use forward::{Follow, Order, Planned, Shown, compute};
    use std::borrow::Cow;
    use uresnet::{Parameters, Stage, Team, Tensor, Threads};

    #[link(wasm_import_module = "desk")]
    unsafe extern "C" {
        /// Writes the request.
        fn order(to: *mut u8);
        /// Writes the image, with this many values.
        fn picture(to: *mut f32, count: usize);
        /// Writes the parameter of this name, with this many values.
        fn weight(name: *const u8, length: usize, to: *mut f32, count: usize);
        /// A [`Planned`].
        fn planned(head: *const u8, length: usize);
        /// The step with this number begins.
        safe fn before(step: usize);
        /// A [`Shown`] and its values.
        fn stage(head: *const u8, length: usize, numbers: *const f32, count: usize);
        /// The logits.
        fn done(numbers: *const f32, count: usize);
        /// The reason if there are none, as text.
        fn failed(text: *const u8, length: usize);
    }

    /// Answers a request of this many bytes with this many threads.
    // SAFETY: no other symbol has the name.
    #[unsafe(no_mangle)]
    extern "C" fn compute_order(threads: usize, bytes: usize) {
        let mut head = vec![0; bytes];
        // SAFETY: the host writes exactly `bytes` bytes.
        unsafe { order(head.as_mut_ptr()) };
        if let Err(problem) = answer(&head, threads) {
            // SAFETY: this is the length of the text.
            unsafe { failed(problem.as_ptr(), problem.len()) };
        }
    }

    fn answer(head: &[u8], threads: usize) -> Result<(), String> {
        let order: Order = postcard::from_bytes(head).map_err(|_| "invalid order".to_string())?;
        // Otherwise the standard library's data for its first threads would be after the maps, and those of the next
        // run would not fit before it.
        Threads(threads).run(&|_| ());
        let count = order.shape.iter().product();
        let mut input = Vec::new();
        input.try_reserve_exact(count).map_err(|_| format!("not enough memory for an image of {:?}", order.shape))?;
        input.resize(count, 0.0);
        // SAFETY: there is enough room.
        unsafe { picture(input.as_mut_ptr(), count) };
        let input = Tensor::from_vec(&order.shape, input).ok_or("the image has a different shape")?;
        let logits = compute(&order, &Desk, &input, threads, &Desk, &mut show).map_err(|error| error.to_string())?;
        // SAFETY: the host reads this many values of the tensor, which outlives the call.
        unsafe { done(logits.data().as_ptr(), logits.data().len()) };
        Ok(())
    }

    /// The program's client: the host.
    struct Desk;

    impl Parameters for Desk {
        fn numbers(&self, name: &str, count: usize) -> Cow<'_, [f32]> {
            let mut numbers = vec![0.0; count];
            // SAFETY: there is room for `count` values, and the length of the name is correct.
            unsafe { weight(name.as_ptr(), name.len(), numbers.as_mut_ptr(), count) };
            Cow::Owned(numbers)
        }
    }

    impl Follow for Desk {
        fn planned(&self, facts: Planned) {
            let head = postcard::to_allocvec(&facts).unwrap_or_default();
            // SAFETY: this is the length of the header.
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
        // SAFETY: both lengths are correct.
        unsafe { stage(head.as_ptr(), head.len(), numbers.as_ptr(), numbers.len()) };
    }
}
