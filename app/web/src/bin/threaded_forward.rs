//! The network on several threads, for workers that share a memory.
//!
//! Built for wasm32-wasip1-threads, whose standard library starts a thread by asking the host for it; that of
//! wasm32-unknown-unknown has no threads. wasm-bindgen doesn't bind the target, so the interface is C's, and
//! `check/threads/worker.js` is the other side of it:
//!
//! 1. `_start`, as in any WASI program, then `begin`, which says that the program listens.
//! 2. For a question: `parcel` for its head, and for each file beside it, the bytes then written where it says; a file
//!    that can't be read has its name written there, and `unreadable` is called. Then `answer`.
//! 3. While it answers the program calls `page.say`, the last time with the answer.
// Names that the host sees are promises the compiler can't check: that no other symbol of the program has them.
#![allow(unsafe_code)]

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`, and so does WASI.
fn main() {}

#[cfg(target_os = "wasi")]
mod interface {
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::Instant;
    use web::check::desk::{Desk, Fault, Watch};
    use web::check::protocol::{Answer, Ask, Parcel, Progress};

    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        /// Sends a message: its first part is the head; of the others each has its kind. They are copied before it returns.
        safe fn say(parts: *const Piece, count: usize);
    }

    /// A part of a message, as the host reads it: three numbers of four bytes.
    #[repr(C)]
    struct Piece {
        kind: u32,
        start: *const u8,
        bytes: usize,
    }

    impl Piece {
        const HEAD: u32 = 0;
        const FLOATS: u32 = 1;
        const BYTES: u32 = 2;

        fn of<T>(kind: u32, numbers: &[T]) -> Piece {
            Piece { kind, start: numbers.as_ptr().cast(), bytes: size_of_val(numbers) }
        }
    }

    static DESK: Mutex<Option<(Desk, Instant)>> = Mutex::new(None);

    /// What the host has handed over for the next question: bytes, or the name of a file that can't be read.
    static PARCELS: Mutex<Vec<Result<Vec<u8>, String>>> = Mutex::new(Vec::new());

    fn parcels() -> MutexGuard<'static, Vec<Result<Vec<u8>, String>>> {
        PARCELS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on runs take so many threads.
    // SAFETY of this and the next: no other symbol has the name.
    #[unsafe(no_mangle)]
    extern "C" fn begin(threads: usize) {
        *DESK.lock().unwrap_or_else(PoisonError::into_inner) = Some((Desk::with_threads(threads), Instant::now()));
        post(&Parcel::of(Answer::Ready));
    }

    /// Room for one more part of the next question; null when there is no memory for it.
    #[unsafe(no_mangle)]
    extern "C" fn parcel(bytes: usize) -> *mut u8 {
        let mut room = Vec::new();
        if room.try_reserve_exact(bytes).is_err() {
            return std::ptr::null_mut();
        }
        room.resize(bytes, 0);
        let start = room.as_mut_ptr();
        parcels().push(Ok(room));
        start
    }

    /// The last part is the name of a file that can't be read.
    #[unsafe(no_mangle)]
    extern "C" fn unreadable() {
        if let Some(last) = parcels().last_mut()
            && let Ok(name) = last
        {
            *last = Err(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// Answers the question whose parts are here.
    #[unsafe(no_mangle)]
    extern "C" fn answer() {
        let mut parts = std::mem::take(&mut *parcels()).into_iter();
        let mut desk = DESK.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(Ok(head)), Some((desk, start))) = (parts.next(), desk.as_mut()) else { return };
        let Some(ask) = Ask::from_bytes(&head) else { return };
        let answer = desk.answer(
            &ask,
            &mut |part| match parts.next() {
                Some(Ok(bytes)) => Ok(bytes),
                Some(Err(name)) => Err(Fault::unreadable(part, &name)),
                None => Err(Fault::lacking(part)),
            },
            &Page(*start),
        );
        post(&answer);
    }

    /// The page at the other end, and when it was first spoken to.
    struct Page(Instant);

    impl Watch for Page {
        fn now(&self) -> f64 {
            self.0.elapsed().as_secs_f64()
        }

        fn tell(&self, progress: Progress) {
            post(&Parcel::of(Answer::Progress(progress)));
        }

        fn memory(&self) -> usize {
            core::arch::wasm32::memory_size(0) << 16
        }
    }

    fn post(answer: &Parcel<Answer>) {
        let head = answer.head.to_bytes();
        let mut pieces = vec![Piece::of(Piece::HEAD, &head)];
        pieces.extend(answer.floats.iter().map(|numbers| Piece::of(Piece::FLOATS, numbers)));
        pieces.extend(answer.bytes.iter().map(|bytes| Piece::of(Piece::BYTES, bytes)));
        say(pieces.as_ptr(), pieces.len());
    }
}
