//! Computes the SHA-256 of the page's script, which the policy of the page names, so that the browser runs it alone.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use std::{fs, io};

const SCRIPT: &str = "src/hlo/page/script.js";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={SCRIPT}");
    let hash = BASE64_STANDARD.encode(Sha256::digest(fs::read(SCRIPT)?));
    println!("cargo::rustc-env=SCRIPT_HASH={hash}");
    Ok(())
}
