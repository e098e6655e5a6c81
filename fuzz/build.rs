//! Adds the folder of libMLIR, which Debian keeps off the loader's path, to the executables.

fn main() {
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", std::env::var("DEP_LAYOUT_DIALECT_GLUE_LIBDIR").unwrap());
}
