//! Tells the executables where libMLIR is, which Debian keeps off the loader's path.

fn main() {
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", std::env::var("DEP_LAYOUT_DIALECT_GLUE_LIBDIR").unwrap());
}
