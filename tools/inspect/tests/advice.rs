//! Advice on memory: each change is written into the text, and the report of that text has the peak that was said.

use serde_json::{Value, json};

fn report(text: &str) -> Value {
    let output = crate::program::run(&["hlo", "-", "--summary", "--json", "--top", "20"], text.as_bytes());
    assert!(output.status.success(), "{output:?}\n{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The advice of a kind about a tensor, which must be there, and the text with its change, whose peak must be the one
/// that it says.
fn check(text: &str, kind: &str, tensor: &str, changes: &[(&str, &str)]) {
    let found = report(text);
    let is_it =
        |own: &&Value| own["kind"] == json!(kind) && own["tensors"].as_array().unwrap().contains(&json!(tensor));
    let advice = found["advice"].as_array().unwrap().iter().find(is_it);
    let advice = advice.unwrap_or_else(|| panic!("{kind} {tensor}: {}", found["advice"]));
    let mut changed = text.to_string();
    for (from, to) in changes {
        assert!(changed.contains(from), "{from}\n{changed}");
        changed = changed.replace(from, to);
    }
    let peak = report(&changed)["peak"]["bytes"].clone();
    assert_eq!(advice["peak"], peak, "{kind} {tensor}\n{changed}");
    let before = found["peak"]["bytes"].as_i64().unwrap();
    assert_eq!(advice["saves"], json!(before - peak.as_i64().unwrap()), "{kind} {tensor}");
    assert!(advice["saves"].as_i64().unwrap() > 0, "{kind} {tensor}");
}

/// A step that updates a table, by way of a copy, which is there because nobody gives the table away.
const STATE: &str = "HloModule step, is_scheduled=true

ENTRY main {
  t = f32[4096,128]{1,0:T(8,128)} parameter(0), metadata={op_name=\"t\"}
  u = f32[8,128]{1,0:T(8,128)} parameter(1), metadata={op_name=\"u\"}
  z = s32[] constant(0)
  c = f32[4096,128]{1,0:T(8,128)} copy(t)
  ROOT r = f32[4096,128]{1,0:T(8,128)} dynamic-update-slice(c, u, z, z)
}
";

/// An argument and an output that are in another layout than what reads and makes them wants.
const ENDS: &str = "HloModule ends, is_scheduled=true

ENTRY main {
  x = f32[2048,300]{0,1:T(8,128)} parameter(0), metadata={op_name=\"p['x']\"}
  c = f32[2048,300]{1,0:T(8,128)} copy(x)
  n = f32[2048,300]{1,0:T(8,128)} custom-call(c), custom_call_target=\"f\"
  ROOT y = f32[2048,300]{0,1:T(8,128)} copy(n)
}
";

/// Two layers whose hidden values are kept for the backward pass.
const LAYERS: &str = "HloModule layers, is_scheduled=true

ENTRY main {
  x = bf16[1024,128]{1,0:T(8,128)(2,1)} parameter(0), metadata={op_name=\"x\"}
  h1 = f32[1024,512]{1,0:T(8,128)} custom-call(x), custom_call_target=\"h\", metadata={op_name=\"jit(f)/jvp()/dot\" source_file=\"m.py\" source_line=3}
  x1 = bf16[1024,128]{1,0:T(8,128)(2,1)} custom-call(h1), custom_call_target=\"d\", metadata={op_name=\"jit(f)/jvp()/dot\" source_file=\"m.py\" source_line=4}
  h2 = f32[1024,512]{1,0:T(8,128)} custom-call(x1), custom_call_target=\"h\", metadata={op_name=\"jit(f)/jvp()/dot\" source_file=\"m.py\" source_line=3}
  g2 = bf16[1024,128]{1,0:T(8,128)(2,1)} custom-call(h2, x1), custom_call_target=\"g\", metadata={op_name=\"jit(f)/transpose(jvp())/dot\" source_file=\"m.py\" source_line=3}
  ROOT g1 = bf16[1024,128]{1,0:T(8,128)(2,1)} custom-call(h1, g2), custom_call_target=\"g\", metadata={op_name=\"jit(f)/transpose(jvp())/dot\" source_file=\"m.py\" source_line=3}
}
";

/// Two weights that each of four devices has whole.
const WHOLE: &str = "HloModule whole, is_scheduled=true, num_partitions=4

ENTRY main {
  a = f32[1024,128]{1,0:T(8,128)} parameter(0), sharding={replicated}, metadata={op_name=\"w['a']\"}
  b = f32[1024,128]{1,0:T(8,128)} parameter(1), sharding={replicated}, metadata={op_name=\"w['b']\"}
  s = f32[128]{0:T(128)} custom-call(a), custom_call_target=\"f\"
  ROOT y = f32[128]{0:T(128)} custom-call(s, b), custom_call_target=\"f\"
}
";

/// Numbers of a flat array by rows of 8 by 4, whose last dimensions fill little of the lanes.
const FLAT: &str = "HloModule flat, is_scheduled=true

ENTRY main {
  x = s32[131072]{0:T(1024)} parameter(0), metadata={op_name=\"x\"}
  z = s32[] constant(0)
  r = s32[4096,8,4]{2,1,0:T(8,128)} reshape(x), metadata={op_name=\"jit(f)/reshape\" source_file=\"m.py\" source_line=7}
  m = s32[4096,4]{1,0:T(8,128)} reduce(r, z), dimensions={1}, to_apply=add, metadata={op_name=\"jit(f)/sum\" source_file=\"m.py\" source_line=7}
  b = s32[4096,4]{1,0:T(8,128)} broadcast(z), dimensions={}
  a = s32[4096,4]{1,0:T(8,128)} add(m, b)
  ROOT y = s32[4]{0:T(128)} reduce(a, z), dimensions={0}, to_apply=add
}

add {
  p = s32[] parameter(0)
  q = s32[] parameter(1)
  ROOT s = s32[] add(p, q)
}
";

/// An update of an argument that the caller keeps, so that it overwrites nothing.
const SUM: &str = "HloModule sum, is_scheduled=true

ENTRY main {
  t = f32[4096,128]{1,0:T(8,128)} parameter(0), metadata={op_name=\"t\"}
  u = f32[4096,128]{1,0:T(8,128)} parameter(1), metadata={op_name=\"u\"}
  ROOT r = f32[4096,128]{1,0:T(8,128)} add(t, u), backend_config={\"aliasing_operands\":{\"lists\":[]}}
}
";

/// Two convolutions, of which the second reads what the first makes.
const CONVOLUTIONS: &str = "HloModule convolutions, is_scheduled=true

ENTRY main {
  x = f32[64,8,8,128]{3,2,1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}
  c = bf16[64,8,8,128]{3,2,1,0:T(8,128)(2,1)} convert(x)
  w = f32[1,1,128,128]{3,2,1,0:T(8,128)} parameter(1), metadata={op_name=\"w\"}
  h = f32[64,8,8,128]{3,2,1,0:T(8,128)} convolution(c, w), window={size=1x1}, dim_labels=b01f_01io->b01f, metadata={op_name=\"jit(f)/jvp()/conv_general_dilated\" source_file=\"m.py\" source_line=3}
  y = bf16[64,8,8,128]{3,2,1,0:T(8,128)(2,1)} convolution(h, w), window={size=1x1}, dim_labels=b01f_01io->b01f, metadata={op_name=\"jit(f)/jvp()/conv_general_dilated\" source_file=\"m.py\" source_line=4}
  ROOT g = bf16[128]{0:T(256)(128)(2,1)} custom-call(y, h), custom_call_target=\"g\"
}
";

/// A value that a loop carries.
const LOOP: &str = "HloModule loop, is_scheduled=true

cond {
  s = (s32[], f32[1024,512]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], f32[1024,512]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  h = f32[1024,512]{1,0:T(8,128)} get-tuple-element(s), index=1
  ROOT t = (s32[], f32[1024,512]{1,0:T(8,128)}) tuple(next, h)
}

ENTRY main {
  x = bf16[1024,128]{1,0:T(8,128)(2,1)} parameter(0), metadata={op_name=\"x\"}
  z = s32[] constant(0)
  h = f32[1024,512]{1,0:T(8,128)} custom-call(x), custom_call_target=\"h\", metadata={op_name=\"jit(f)/dot\" source_file=\"m.py\" source_line=3}
  t = (s32[], f32[1024,512]{1,0:T(8,128)}) tuple(z, h)
  w = (s32[], f32[1024,512]{1,0:T(8,128)}) while(t), condition=cond, body=body
  g = f32[1024,512]{1,0:T(8,128)} get-tuple-element(w), index=1
  ROOT y = bf16[1024,128]{1,0:T(8,128)(2,1)} custom-call(g), custom_call_target=\"g\"
}
";

#[test]
fn what_is_said_is_what_the_changed_program_takes() {
    let header = ("is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }");
    check(STATE, "donate", "t", &[header, ("} copy(t)", "} bitcast(t)")]);
    check(SUM, "donate", "t", &[header, (", backend_config={\"aliasing_operands\":{\"lists\":[]}}", "")]);
    let image = ("f32[64,8,8,128]{3,2,1,0:T(8,128)}", "bf16[64,8,8,128]{3,2,1,0:T(8,128)(2,1)}");
    // The conversion of the argument is a buffer of the peak.
    let first = CONVOLUTIONS.lines().filter(|line| !line.contains(" y =")).collect::<Vec<_>>().join("\n");
    let other = "f32[64,8,8,128]{2,3,1,0:T(8,128)} convolution";
    let argument = first.replace("f32[64,8,8,128]{3,2,1,0:T(8,128)} convolution", other).replace("(y, h)", "(h)");
    check(&argument, "type", "x", &[image, ("} convert(x)", "} bitcast(x)")]);
    let row_major = "f32[2048,300]{1,0:T(8,128)}";
    let ends = [("f32[2048,300]{0,1:T(8,128)}", row_major), ("copy", "bitcast")];
    check(ENDS, "layout", "x", &ends);
    let narrow = ("f32[1024,512]{1,0:T(8,128)}", "bf16[1024,512]{1,0:T(8,128)(2,1)}");
    check(LAYERS, "type", "h1", &[narrow]);
    let line = LAYERS.lines().find(|line| line.contains(" h1 =")).unwrap();
    let again = line.replace("h1", "h1.again");
    let last = "  ROOT g1 =";
    let again = [("custom-call(h1, g2)", "custom-call(h1.again, g2)"), (last, &format!("{again}\n{last}"))];
    check(LAYERS, "recompute", "h1", &again);
    let last =
        [("s32[4096,8,4]{2,1,0:T(8,128)}", "s32[4096,8,4]{0,2,1:T(4,128)}"), ("{1,0:T(8,128)}", "{0,1:T(4,128)}")];
    check(FLAT, "order", "r", &last);
    check(FLAT, "order", "m", &last);
    let copies = "  c = s32[4096,8,4]{0,2,1:T(4,128)} copy(r)\n  u = s32[4096,8,4]{2,1,0:T(8,128)} copy(c)\n  m =";
    let compressed = FLAT.replace("reduce(r, z)", "reduce(u, z)").replace("  m =", copies);
    check(&compressed, "order", "u", &[last[0], last[1], ("copy(", "bitcast(")]);
}

/// An order helps where the source's order is that of the memory, and where no product decides.
#[test]
fn orders_are_told_where_the_source_decides() {
    let of = |text: &str| {
        let found = report(text);
        let is_it = |own: &&Value| own["kind"] == json!("order");
        found["advice"].as_array().unwrap().iter().find(is_it).map(|own| own["code"].as_str().unwrap().to_string())
    };
    let code = ".reshape(8, 4, 4096) at m.py:7, with the data in that order, and its axes in what reads it";
    assert_eq!(of(FLAT), Some(code.to_string()));
    let product = FLAT.replace("broadcast(z), dimensions={}", "custom-call(r), custom_call_target=\"f\"");
    let ordered = FLAT.replace("{2,1,0:T(8,128)}", "{0,2,1:T(4,128)}").replace("{1,0:T(8,128)}", "{0,1:T(4,128)}");
    let wide = FLAT.replace("[4096,8,4]", "[32,8,512]").replace("[4096,4]", "[32,512]").replace("s32[4]", "s32[512]");
    for other in [product, ordered, wide] {
        assert_eq!(of(&other), None, "{other}");
    }
}

/// Replicated arguments are listed with their bytes, and without a peak, which XLA decides.
#[test]
fn arguments_that_are_replicated() {
    let found = report(WHOLE);
    let code =
        "in_shardings for w: NamedSharding(mesh, P(\"x\")), with the axis at the largest dimension of each array";
    let whole = 2 * 1024 * 128 * 4;
    let expected = json!([{"name": "w", "devices": 4, "bytes": whole, "part": whole / 4, "code": code}]);
    assert_eq!(found["replicated"], expected);
    for (form, words) in
        [("--summary", "cut over 4 devices 256.0 KiB each"), ("--html=-", "cut over 4 devices <data value=\"262144\"")]
    {
        let output = crate::program::run(&["hlo", "-", form], WHOLE.as_bytes());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(words), "{form}: {text}");
    }
    for other in
        [WHOLE.replace("num_partitions=4", "num_partitions=1"), WHOLE.replace("replicated", "devices=[4,1]<=[4]")]
    {
        assert_eq!(report(&other)["replicated"], json!(null), "{other}");
    }
}

/// Each piece of advice has the code that does it, with the names of the function's arguments.
#[test]
fn the_code_names_arguments_and_orders() {
    let code = |text: &str, kind: &str| {
        let found = report(text);
        let all = found["advice"].as_array().unwrap();
        all.iter().find(|own| own["kind"] == json!(kind)).map(|own| own["code"].as_str().unwrap().to_string()).unwrap()
    };
    assert_eq!(code(STATE, "donate"), "jax.jit(f, donate_argnames=(\"t\",))");
    let layouts = "o = Format(Layout(major_to_minor=(0, 1)), sharding); jax.jit(f, in_shardings=(o,), out_shardings=o)";
    assert_eq!(code(ENDS, "layout"), layouts);
    assert!(code(LAYERS, "recompute").starts_with("g = jax.checkpoint(g"), "{}", code(LAYERS, "recompute"));
}

/// There is no advice where nothing helps, and none for an order that nobody runs.
#[test]
fn nothing_to_do_is_no_advice() {
    let none = |text: &str| assert_eq!(report(text)["advice"], json!([]), "{text}");
    let sum = "ROOT y = s32[8]{0:T(128)} custom-call(x), custom_call_target=\"f\"";
    none(&format!(
        "HloModule m, is_scheduled=true\n\nENTRY main {{\n  x = s32[1024]{{0:T(1024)}} parameter(0)\n  {sum}\n}}\n"
    ));
    none(&STATE.replace(", is_scheduled=true", ""));
    // Tiles that no order of the machine has cannot be asked for; a state keeps its type.
    let tiles = report(&ENDS.replace("{1,0:T(8,128)}", "{1,0:T(16,128)}"));
    assert!(tiles["advice"].as_array().unwrap().iter().all(|own| own["kind"] == json!("donate")), "{tiles}");
}

/// Advice that a user cannot follow: a donation would be lost, a line has no gradient, or no value of its own.
#[test]
fn what_cannot_be_followed_is_no_advice() {
    let of = |text: &str, kind: &str| -> Vec<String> {
        let found = report(text);
        let is_it = |own: &&Value| own["kind"] == json!(kind);
        let code = |own: &Value| own["code"].as_str().unwrap().to_string();
        found["advice"].as_array().unwrap().iter().filter(is_it).map(code).collect()
    };
    let donated = "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }";
    let layouts = of(&ENDS.replace("is_scheduled=true", donated), "layout");
    assert!(layouts.iter().all(|code| code.contains("in_shardings") && code.contains("out_shardings")), "{layouts:?}");
    let one = ENDS.replace("} copy(n)", "} custom-call(n), custom_call_target=\"g\"");
    assert_eq!([of(ENDS, "layout").len(), layouts.len(), of(&one, "layout").len()], [1; 3]);
    assert_eq!(of(&one.replace("is_scheduled=true", donated), "layout"), Vec::<String>::new());
    for (kind, scope) in [("recompute", "jit(f)/dot"), ("type", "jit(f)/transpose(jvp())/dot")] {
        assert!(!of(LAYERS, kind).is_empty(), "{kind}");
        assert_eq!(of(&LAYERS.replace("jit(f)/jvp()/dot", scope), kind), Vec::<String>::new(), "{kind}");
    }
}

/// A loop's state and a kernel's operands keep their types; an operand of a convolution is widened again.
#[test]
fn types_that_an_instruction_fixes() {
    let of = |text: &str| {
        let found = report(text);
        let of_line = |own: &&Value| own["kind"] == json!("type") && own["source"] == json!("m.py:3");
        found["advice"].as_array().unwrap().iter().find(of_line).map(|own| own["code"].as_str().unwrap().to_string())
    };
    assert_eq!([of(LOOP), of(&LAYERS.replace("\"g\"", "\"tpu_custom_call\""))], [None, None]);
    let called = LOOP.replace("while(t), condition=cond, body=body", "custom-call(t), custom_call_target=\"w\"");
    assert_eq!(of(&called).unwrap(), ".astype(jnp.bfloat16) on the result of dot at m.py:3");
    assert_eq!(of(LAYERS).unwrap(), ".astype(jnp.bfloat16) on the result of dot at m.py:3");
    let widened = ".astype(jnp.bfloat16).astype(jnp.float32) on the result of conv_general_dilated at m.py:3";
    assert_eq!(of(CONVOLUTIONS).unwrap(), widened);
}

/// The live buffers add up to the peak in all programs of the tests, and have a source.
#[test]
fn the_peak_is_whole() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo");
    let mut memories = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "hlo") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let found = report(&text);
        for memory in found["spaces"].as_array().unwrap() {
            let peak = &memory["peak"];
            for (list, bytes) in [("buffers", "padded_bytes"), ("lines", "padded"), ("scopes", "padded")] {
                let entries = peak[list]["entries"].as_array().unwrap();
                let sum = |of: &dyn Fn(&&Value) -> bool| -> i64 {
                    entries.iter().filter(of).map(|own| own[bytes].as_i64().unwrap()).sum()
                };
                let all = sum(&|_| true) + peak[list]["other_bytes"].as_i64().unwrap();
                assert_eq!(json!(all), peak["bytes"], "{path:?} {list}");
                let unknown = sum(&|own| own["name"] == json!("unknown"));
                assert!(
                    list == "buffers" || !text.contains("metadata=") || unknown * 20 <= all,
                    "{path:?} {list}: {unknown} of {all}"
                );
            }
            memories += 1;
        }
    }
    assert!(memories >= 24, "{memories}");
}

/// A copy that a fusion makes reads and writes memory as one outside does.
#[test]
fn a_relayout_inside_a_fusion_is_listed() {
    let text = |inside: &str| {
        format!(
            "HloModule m, is_scheduled=true\n\nfused {{\n  p = f32[256,128]{{1,0:T(8,128)}} parameter(0)\n{inside}}}\n\n\
             ENTRY main {{\n  x = f32[256,128]{{1,0:T(8,128)}} parameter(0)\n  \
             ROOT y = f32[256,128]{{0,1:T(8,128)}} fusion(x), kind=kLoop, calls=fused\n}}\n"
        )
    };
    let bytes = |inside: &str| -> Vec<i64> {
        let found = report(&text(inside));
        found["relayouts"].as_array().unwrap().iter().map(|moved| moved["bytes"].as_i64().unwrap()).collect()
    };
    let whole = 256 * 128 * 4;
    let copy = "f32[256,128]{0,1:T(8,128)} copy";
    assert_eq!(bytes(&format!("  ROOT c = {copy}(p)\n")), [2 * whole]);
    let negate = |layout: &str, of: &str| format!("f32[256,128]{layout} negate({of})");
    let reads = format!("  c = {copy}(p)\n  ROOT n = {}\n", negate("{0,1:T(8,128)}", "c"));
    assert_eq!(bytes(&reads), [whole]);
    let writes = format!("  n = {}\n  ROOT c = {copy}(n)\n", negate("{1,0:T(8,128)}", "p"));
    assert_eq!(bytes(&writes), [whole]);
    let registers = format!(
        "  n = {}\n  c = {copy}(n)\n  ROOT m = {}\n",
        negate("{1,0:T(8,128)}", "p"),
        negate("{0,1:T(8,128)}", "c")
    );
    assert!(bytes(&registers).is_empty());
}
