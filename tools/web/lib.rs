//! The line protocol as one function of WebAssembly: the bytes of requests in, the bytes of their answers out.
//!
//! ```js
//! const at = exports.room(request.length);
//! new Uint8Array(exports.memory.buffer, at, request.length).set(request);
//! const found = exports.answer();
//! const answer = new Uint8Array(exports.memory.buffer, Number(found >> 32n), Number(found & 0xffffffffn));
//! ```
//!
//! `layout-inspect --json` gives the same lines. They stay where they are until the next request. The module imports a
//! clock, and a function that throws: a panic hands it the message, and the module is not called again.
#![cfg(target_family = "wasm")]

mod memory;

use layout_console::report_panics;
use std::cell::RefCell;

#[global_allocator]
static MEMORY: memory::Blocks = memory::Blocks::new();

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Throws an exception with the text that is there.
    safe fn fail(at: *const u8, bytes: usize);
}

thread_local! {
    static REQUESTS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWERS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The place for requests of so many bytes.
#[unsafe(no_mangle)]
extern "C" fn room(bytes: usize) -> *mut u8 {
    report_panics(|bug| fail(bug.message.as_ptr(), bug.message.len()));
    REQUESTS.with_borrow_mut(|requests| {
        requests.resize(bytes, 0);
        requests.as_mut_ptr()
    })
}

/// Answers the requests in the last [`room`]. The upper half of the result is the place of the answers, the lower half
/// their bytes.
#[unsafe(no_mangle)]
extern "C" fn answer() -> u64 {
    let answers = layout_inspect::answers(&REQUESTS.take());
    let found = (answers.as_ptr() as u64) << 32 | answers.len() as u64;
    ANSWERS.set(answers);
    found
}
