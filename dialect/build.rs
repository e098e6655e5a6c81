//! Builds the dialect's C++, generates the names of the attributes of `Layout.td`, and replaces the shared library of
//! MLIR's C API by its archives.

use layout_build::{
    glue::{Glue, out, package, write},
    llvm::Llvm,
    or_stop,
    records::{Attribute, attributes},
};

fn main() {
    let llvm = or_stop(Llvm::find());
    let glue = Glue { target: "layout_dialect_glue", file: "Dialect.cmake", include: Vec::new() };
    or_stop(glue.build(&llvm));
    let all = or_stop(attributes(&package().join("Layout.td"), &llvm.include));
    or_stop(write(&out().join("attributes.rs"), &constants(&all)));

    // mlir-sys links libMLIR-C.so, which not every LLVM has: the C API comes in archives beside libMLIR.so. A linker
    // script of that name replaces it. The shared libraries are named again because rustc links as needed.
    let archives: Vec<String> = or_stop(llvm.c_api()).iter().map(|path| path.display().to_string()).collect();
    let folder = out().join("capi");
    or_stop(write(&folder.join("libMLIR-C.so"), &format!("GROUP ( {} )\n", archives.join(" "))));
    println!("cargo:rustc-link-search=native={}", folder.display());
}

/// A constant for each attribute, and a list of them.
fn constants(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    let mut names = Vec::new();
    for Attribute { mnemonic, summary } in attributes {
        let name = mnemonic.to_uppercase();
        text += &format!("#[doc = {:?}]\npub const {name}: &str = {mnemonic:?};\n", format!("{summary}."));
        names.push(name);
    }
    text + &format!(
        "/// All attributes, by their names after `#layout.`.\nconst MNEMONICS: &[&str] = &[{}];\n",
        names.join(", ")
    )
}
