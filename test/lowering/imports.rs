//! Imports are MLIR: MLIR parses and verifies any output that `layout-translate` writes without an error.

use crate::jit;
use fastrand::Rng;
use layout_reference::changes::{bounded, changed, modules};
use layout_reference::{blocks, random_hlo};
use layout_test::Sample;
use layout_translate::{Collectives, Elided, Options, import_with};
use melior::{Context, ir};
use tensor_layout::hlo;

/// Imports a text in each way and has MLIR parse the result. Returns the number of successful ways.
fn parsed(context: &Context, name: &str, text: &str) -> usize {
    let Ok(module) = hlo::Module::parse(text) else { return 0 };
    let all =
        [Collectives::Calls, Collectives::Single].map(|collectives| Options { collectives, elided: Elided::Resource });
    let imported = |options| import_with(&module, text, name, options).ok();
    let check = |mlir: String| {
        assert!(ir::Module::parse(context, &mlir).is_some(), "MLIR refuses what is made of {name}:\n{text}\n{mlir}");
    };
    all.into_iter().filter_map(imported).map(check).count()
}

#[test]
fn modules_of_the_tests() {
    let context = jit::context();
    for (name, text) in ["hlo", "hlo/small", "hlo/devices"].into_iter().flat_map(modules) {
        assert_eq!(parsed(&context, &name, &text), 2, "{name} is imported");
    }
    let kinds = blocks::read("hlo/kinds.txt", "> ");
    let imported = kinds.iter().filter(|kind| parsed(&context, "kinds.txt", &kind.text) != 0).count();
    assert!(imported > 10, "{imported} of {} kinds are imported", kinds.len());
}

#[test]
fn random_programs() {
    let context = jit::context();
    for seed in Sample::from_env().select(0..300) {
        assert_eq!(parsed(&context, &format!("program {seed}"), &random_hlo::program(seed)), 2, "program {seed}");
    }
}

/// Instructions that only move elements may round them, too.
#[test]
fn moved_elements_are_rounded() {
    let context = jit::context();
    for [from, to] in [["f64", "f32"], ["f32", "bf16"], ["f16", "f32"]] {
        for (result, instruction) in [
            ("TO[4]", "add-dependency(x, k)"),
            ("TO[4]", "set-dimension-size(x, n), dimensions={0}"),
            ("TO[<=4]", "set-dimension-size(x, n), dimensions={0}"),
            ("TO[4]", "dynamic-reshape(x, n)"),
            ("(TO[4], u32[], token[])", "send(x, k), channel_id=1, is_host_transfer=true"),
            ("TO[4]", "ragged-all-to-all(x, x, i, i, i, i)"),
        ] {
            let text = format!(
                "ENTRY e {{\n  x = {from}[4] parameter(0)\n  n = s32[] constant(4)\n  i = s32[1] constant({{1}})\n  \
                 k = token[] after-all()\n  ROOT y = {} {instruction}\n}}\n",
                result.replace("TO", to)
            );
            assert_eq!(parsed(&context, instruction, &text), 2, "{from} to {result}: {instruction}");
        }
    }
}

/// Randomly changed modules, and modules with bounded dynamic sizes.
#[test]
fn changed_modules() {
    let (cases, seed) = Sample::from_env().random(4_000, 3);
    let (context, mut rng, texts) = (jit::context(), Rng::with_seed(seed), modules("hlo/small"));
    let mut imported = 0;
    for _ in 0..cases {
        let (name, text) = &texts[rng.usize(..texts.len())];
        imported += parsed(&context, name, &changed(text, &mut rng));
    }
    for (name, text) in Sample::from_env().select(&texts) {
        imported += (1..=16).map(|n| parsed(&context, name, &bounded(text, n))).sum::<usize>();
    }
    assert!(imported > cases as usize / 20, "{imported} are imported");
}
