//! The exit status of a tool. This test has a process of its own, as a tool replaces the panic hook of its process.

use layout_console::with_stack;
use std::process::ExitCode;

#[test]
fn a_panic_is_the_exit_status_of_a_bug() {
    let status = |code: ExitCode| format!("{code:?}");
    assert_eq!(status(with_stack(|| panic!("a bug"))), status(ExitCode::from(3)));
    assert_eq!(status(with_stack(|| ExitCode::SUCCESS)), status(ExitCode::SUCCESS));
}
