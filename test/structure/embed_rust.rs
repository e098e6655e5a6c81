//! Runs `examples/embed-rust`. Its expected output is `expected.txt` there;
//! `BLESS=1 cargo test -p layout-test --test structure embed_rust` writes it.

use layout_test::Checkout;
use std::{env, fs, process::Command};

#[test]
fn prints_the_expected_output() {
    let checkout = Checkout::new();
    checkout.build_tools();
    // Cargo sets the variable for tests; the executable itself knows where libMLIR is.
    let run = Command::new(checkout.tools.join("embed-rust")).env_remove("LD_LIBRARY_PATH").output();
    let output = run.expect("the example is built");
    let [printed, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{}\n{printed}{errors}", output.status);
    let expected = checkout.root.join("examples/embed-rust/expected.txt");
    if env::var_os("BLESS").is_some() {
        fs::write(&expected, printed.as_bytes()).expect("the checkout is writable");
    }
    assert_eq!(printed, fs::read_to_string(&expected).expect("the expected output is readable"));
}
