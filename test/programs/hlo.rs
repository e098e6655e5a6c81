//! HLO text: the corpus, every kind of operation, wrong texts, and randomly changed texts.

use layout_reference::blocks::{self, Block, find, module, parse, places};
use layout_reference::choices::{self, Choices};
use std::collections::BTreeMap;
use tensor_layout::hlo::{Instruction, Module, Values};
use tensor_layout::operations::Operation;

#[test]
fn every_kind() {
    for Block { text, expected } in blocks::read("hlo/kinds.txt", "> ") {
        let module = parse(&text);
        for line in expected {
            let (name, operation) = line.split_once(' ').unwrap();
            assert_eq!(format!("{:?}", find(&module, name).operation), operation, "{name}");
        }
    }
}

/// Each error of each text, with its line and column.
#[test]
fn wrong_texts() {
    blocks::check("hlo/errors.txt", "! ", places);
}

/// The texts of the corpus by file name.
fn corpus() -> BTreeMap<String, String> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/test/hlo")).unwrap();
    let read = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".hlo")?.to_string();
        Some((name, std::fs::read_to_string(&path).unwrap()))
    };
    folder.filter_map(|entry| read(entry.unwrap().path())).collect()
}

/// The byte offsets at which the tokens of a text begin, and its length. Comments are none.
fn tokens(text: &str) -> Vec<usize> {
    let (mut all, mut at) = (Vec::new(), 0);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_.%#-".contains(c);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            _ if rest.starts_with("//") => rest.find('\n'),
            _ if rest.starts_with("->") || rest.starts_with("<=") => Some(2),
            '"' => rest[1..].find('"').map(|end| end + 2),
            // The labels of a convolution, `b01f_01io->b01f`, are one token.
            _ if is_word(first) => {
                let name = rest.split(|c: char| !is_word(c) && c != '>').next().unwrap_or_default();
                Some(
                    if rest.contains("->") && name.contains("->") {
                        name
                    } else {
                        name.split('>').next().unwrap_or(name)
                    }
                    .len(),
                )
            }
            _ => None,
        };
        if !first.is_whitespace() && !rest.starts_with("/*") && !rest.starts_with("//") {
            all.push(at);
        }
        at += length.unwrap_or(first.len_utf8());
    }
    all.push(text.len());
    all
}

/// XLA skips comments between any two tokens, also before the header and behind the last brace.
#[test]
fn comments_are_between_any_two_tokens() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/test/hlo/small")).unwrap();
    let mut texts: Vec<String> = folder.map(|own| std::fs::read_to_string(own.unwrap().path()).unwrap()).collect();
    texts.push("f32[4]{0} add(f32[4]{0} x, f32[4]{0} y)".into());
    texts.push("ROOT r = f32[2,3]{0,1} transpose(f32[3,2] x), dimensions={1,0}".into());
    texts.push("e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}".into());
    let told = |module: &Module| {
        let values = |i: &Instruction| {
            i.literal.iter().flat_map(|l| l.leaves()).map(|l| format!("{:?}", l.values)).collect::<Vec<_>>()
        };
        let of = |i: &Instruction| (i.name.clone(), i.opcode.clone(), values(i));
        let names = module.computations.iter().map(|c| c.instructions.iter().map(of).collect::<Vec<_>>());
        (module.graphs(), names.collect::<Vec<_>>())
    };
    for text in texts.iter().filter(|text| !text.contains("backend_config={") && !text.contains('\\')) {
        let expected = told(&parse(text));
        for comment in ["/* } , \" = {\n */", "// } , \" = {\n", "\n\n"] {
            let mut commented = text.clone();
            tokens(text).iter().rev().for_each(|at| commented.insert_str(*at, comment));
            assert_eq!(told(&parse(&commented)), expected, "{commented}");
            // An error is at its token.
            let wrong = format!("{commented} ?");
            assert_eq!(Module::parse(&wrong).unwrap_err()[0].at, Some(wrong.len() - 1), "{wrong}");
        }
    }
}

/// XLA passes over empty operands, and compares the head of a computation with its root alone.
#[test]
fn empty_operands_and_other_heads_are_read_as_by_xla() {
    let text = |head: &str, other: &str, sum: &str, used: &str| {
        format!(
            "HloModule m\nf {other}{{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add({sum})\n}}\n\
             ENTRY e {head}{{\n  x = f32[2] parameter(0)\n  z = f32[] constant(0)\n  i = s32[2] iota(), iota_dimension=0\n  \
             ROOT r = f32[] reduce({used}), dimensions={{0}}, to_apply=f\n}}\n"
        )
    };
    let plain = parse(&text("", "", "a, b", "x, z"));
    for (sum, used) in
        [("a, b,", "x, z ,"), ("a, b,,", ",x, z"), ("a,, b", "f32[2] x,, f32[] z"), ("a,b\n,", "x, /*1*/, z")]
    {
        assert_eq!(parse(&text("", "", sum, used)).graphs(), plain.graphs(), "{sum}, {used}");
    }
    for head in ["()", "(x: f32[2])", "(x: s32[7], z: (f32[2], token[]))", "(p: f32[2], p: f32[2], q: f32[])"] {
        let read = parse(&text(&format!("{head} -> f32[] "), &format!("{head} -> f32[] "), "a, b", "x, z"));
        assert_eq!(read.graphs(), plain.graphs(), "{head}");
    }
}

/// The opcode of each line with a definition, found without the reader: after the first ` = ` and a shape, which is one
/// word or is in parentheses.
fn opcodes(text: &str) -> Vec<String> {
    let opcode = |line: &str| {
        let rest = line.split_once(" = ")?.1;
        let mut depth = 0;
        let space = rest.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            depth == 0 && *c == ' '
        });
        Some(rest[space?.0..].trim_start().split('(').next()?.to_string())
    };
    text.lines().filter_map(opcode).collect()
}

#[test]
fn corpus_is_read_whole() {
    const INSTRUCTIONS: [(&str, usize, usize); 24] = [
        ("attention.opt", 90, 18),
        ("attention.unopt", 66, 16),
        ("conv.opt", 6, 3),
        ("conv.unopt", 3, 2),
        ("embedding_gather.opt", 25, 11),
        ("embedding_gather.unopt", 34, 11),
        ("int8_matmul.opt", 13, 6),
        ("int8_matmul.unopt", 7, 5),
        ("kvcache_update.opt", 41, 12),
        ("kvcache_update.unopt", 19, 9),
        ("layernorm.opt", 53, 9),
        ("layernorm.unopt", 45, 10),
        ("lstm_scan.opt", 98, 20),
        ("lstm_scan.unopt", 86, 19),
        ("mlp_train_step.opt", 135, 17),
        ("mlp_train_step.unopt", 128, 21),
        ("pad_flip_pool.opt", 29, 10),
        ("pad_flip_pool.unopt", 27, 10),
        ("resnet_block.opt", 135, 11),
        ("resnet_block.unopt", 153, 16),
        ("softmax.opt", 28, 11),
        ("softmax.unopt", 25, 10),
        ("vit_patchify.opt", 13, 6),
        ("vit_patchify.unopt", 6, 4),
    ];
    let corpus = corpus();
    assert_eq!(corpus.len(), 24);
    for ((name, text), (expected, instructions, kinds)) in corpus.iter().zip(INSTRUCTIONS) {
        let module = parse(text);
        assert_eq!(name, expected);
        let all: Vec<&Instruction> = module.computations.iter().flat_map(|c| &c.instructions).collect();
        let mut found: Vec<_> = all.iter().map(|i| i.opcode.clone()).collect();
        let mut lines = opcodes(text);
        found.sort();
        lines.sort();
        assert_eq!(found, lines, "{name}");
        found.dedup();
        assert_eq!((all.len(), found.len()), (instructions, kinds), "{name}");
        let roots = text.matches("ROOT ").count();
        assert_eq!(module.computations.len(), roots, "{name}");
        assert!(text[text.find("ENTRY ").unwrap()..].contains(&module.computations[module.entry].name));
        for instruction in all {
            let place = text[instruction.at..].trim_start_matches('%');
            assert!(place.starts_with(&instruction.name), "{name}");
        }
        ordered(&module);
    }
}

/// Asserts the order that [`Module`] promises.
fn ordered(module: &Module) {
    for (number, computation) in module.computations.iter().enumerate() {
        for (i, instruction) in computation.instructions.iter().enumerate() {
            assert!(instruction.operands.iter().chain(&instruction.control).all(|&used| used < i));
            assert!(instruction.called.iter().all(|&called| called < number));
        }
        for (number, &parameter) in computation.parameters.iter().enumerate() {
            let operation = &computation.instructions[parameter].operation;
            assert_eq!(*operation, tensor_layout::operations::Operation::Parameter { number });
        }
        assert!(computation.root < computation.instructions.len());
    }
}

/// The order of lines in a body has no meaning, and neither has that of computations.
#[test]
fn order_does_not_matter() {
    let mut random = fastrand::Rng::with_seed(7);
    for (name, text) in corpus() {
        let whole = parse(&text);
        let parts: Vec<&str> = text.split_inclusive("\n}\n").collect();
        let (head, first) = parts[0].split_at(parts[0].rfind("\n\n").unwrap());
        let mut parts: Vec<String> = [first].iter().chain(&parts[1..]).map(|part| part.to_string()).collect();
        for part in &mut parts {
            let mut lines: Vec<&str> = part.lines().filter(|line| line.contains(" = ")).collect();
            random.shuffle(&mut lines);
            let open = part.lines().find(|line| line.ends_with('{')).unwrap_or("").to_string();
            *part = if open.is_empty() { String::new() } else { format!("\n{open}\n{}\n}}\n", lines.join("\n")) };
        }
        random.shuffle(&mut parts);
        let module = parse(&format!("{head}\n{}", parts.concat()));
        ordered(&module);
        let describe = |module: &Module| {
            let mut found = Vec::new();
            for computation in &module.computations {
                let names = |uses: &[usize]| uses.iter().map(|&u| computation.instructions[u].name.clone()).collect();
                for (i, instruction) in computation.instructions.iter().enumerate() {
                    let called = instruction.called.iter().map(|&c| module.computations[c].name.clone()).collect();
                    let uses: [Vec<String>; 2] = [names(&instruction.operands), called];
                    let root = i == computation.root;
                    let id = (computation.name.clone(), instruction.name.clone());
                    found.push((id, root, instruction.shape.to_string(), uses, instruction.source.clone()));
                }
            }
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found
        };
        assert_eq!(describe(&whole), describe(&module), "{name}");
    }
}

/// The body of a module with sources, literals and attributes.
const IMPORTED: &str = r#"  p = f32[2]{0} parameter(0), metadata={op_name="a/b" stack_frame_id=2}
  q = f32[2] parameter(1), metadata={op_type="x" op_name="\303\251\n\x41" source_file="f.py" source_line=3}
  c = s32[2,2] constant({ /*i=0*/ {1, -2}, {3, 4} })
  b = pred[3] constant({true, 0, 1})
  f = f32[6] constant({1, -inf, nan, -nan, 1e-05, .5})
  n = f32[] constant(nan(0x400001))
  z = c64[2] constant({(1, -2), 3})
  e = f32[9,9] constant({...})
  t = (f32[], s32[2]) constant(( 1, {2, 3} ))
  o = f32[0] constant({})
  oo = f32[3,0] constant({})
  u = u64[] constant(18446744073709551615)
  s = s4[] constant(-8)
  k = f32[2] custom-call(p), custom_call_target="a\"b", operand_layout_constraints={f32[2]{0}},
    has=true, backend_config={"x":["}",1]}
  ROOT m = pred[2] compare(p, q), direction=GT
"#;

/// The head of the module, with the tables of its sources.
const TABLES: &str = "HloModule m, is_scheduled=true, input_output_alias={ }
FileNames
1 \"dir/g.py\"
FunctionNames
1 \"main\"
FileLocations
4 {file_name_id=1 function_name_id=1 line=70 end_line=70 column=23 end_column=43}
StackFrames
2 {file_location_id=4 parent_frame_id=0}
";

fn imported() -> Module {
    parse(&module(IMPORTED).replacen("HloModule m\n", TABLES, 1))
}

#[test]
fn sources_and_attributes_are_read() {
    let module = imported();
    assert_eq!(module.attribute("is_scheduled"), Some("true"));
    assert_eq!(module.attribute("input_output_alias"), Some("{ }"));
    let source = |name: &str| {
        let source = &find(&module, name).source;
        (source.op_name.as_deref(), source.file.as_deref(), source.line)
    };
    assert_eq!(source("p"), (Some("a/b"), Some("dir/g.py"), Some(70)));
    assert_eq!(source("q"), (Some("é\nA"), Some("f.py"), Some(3)));
    assert_eq!(source("m"), (None, None, None));
    let k = find(&module, "k");
    assert_eq!(k.string("custom_call_target").as_deref(), Some("a\"b"));
    assert_eq!(k.attribute("backend_config"), Some("{\"x\":[\"}\",1]}"));
    assert_eq!((k.flag("has"), k.flag("has_not"), k.string("has"), k.numbers("has")), (true, false, None, None));
    let m = module.computations[module.entry].result();
    assert_eq!((&*m.name, m.attribute("direction")), ("m", Some("GT")));
}

#[test]
fn literals_are_read() {
    let module = imported();
    let literal = |name: &str| find(&module, name).literal.as_ref().unwrap();
    assert_eq!(literal("c").values, Values::Integers(vec![1, -2, 3, 4]));
    assert_eq!(literal("c").text, "{ /*i=0*/ {1, -2}, {3, 4} }");
    assert_eq!(literal("b").values, Values::Booleans(vec![true, false, true]));
    let Values::Floats(floats) = &literal("f").values else { panic!() };
    assert_eq!((floats[0], floats[1], floats[4], floats[5]), (1.0, f64::NEG_INFINITY, 1e-5, 0.5));
    assert!(floats[2].is_nan() && !floats[2].is_sign_negative() && floats[3].is_nan() && floats[3].is_sign_negative());
    assert_eq!(literal("n").text, "nan(0x400001)");
    assert_eq!(literal("z").values, Values::Complex(vec![(1.0, -2.0), (3.0, 0.0)]));
    assert_eq!(literal("e").values, Values::Elided);
    let Values::Tuple(parts) = &literal("t").values else { panic!() };
    assert_eq!((&parts[0].values, &*parts[0].text), (&Values::Floats(vec![1.0]), "1"));
    assert_eq!((&parts[1].values, &*parts[1].text), (&Values::Integers(vec![2, 3]), "{2, 3}"));
    assert_eq!((&literal("o").values, &literal("oo").values), (&Values::Floats(vec![]), &Values::Floats(vec![])));
    assert_eq!(literal("u").values, Values::Integers(vec![u64::MAX.into()]));
    assert_eq!(literal("s").values, Values::Integers(vec![-8]));
}

#[test]
fn the_last_instruction_is_the_root_without_a_mark() {
    let slice = parse(&module("x = f32[9] parameter(0)\ny = f32[9] reverse(x), dimensions={0}\n"));
    assert_eq!(find(&slice, "y").numbers("dimensions"), Some(vec![0]));
    assert_eq!(slice.computations[slice.entry].result().name, "y");
}

/// An omitted shape is inferred; layouts are kept where sizes are.
#[test]
fn shapes_that_are_left_out() {
    let text = blocks::read("hlo/kinds.txt", "> ").into_iter().find(|block| block.text.contains("HloModule omitted"));
    let module = parse(&text.unwrap().text);
    let shape = |name: &str| find(&module, name).shape.to_string();
    assert_eq!(shape("p"), "f32[4,6]{0,1:T(2,4)}");
    assert_eq!(shape("s"), "f32[2,5]{1,0}");
    assert_eq!(shape("d"), "f32[4,5]{1,0}");
    assert_eq!(shape("c"), "f32[4,10]{1,0}");
    assert_eq!(shape("less"), "pred[4,6]{0,1:T(2,4)}");
    assert_eq!(shape("pair"), "(f32[4,6]{0,1:T(2,4)}, f32[5,4]{0,1})");
    assert_eq!((&*shape("part"), &*shape("called"), &*shape("sum")), ("f32[5,4]{0,1}", "f32[]", "f32[4]{0}"));
}

/// Shapes that XLA's parser (jaxlib 0.10.2) infers: sizes, types and layouts.
#[test]
fn shapes_are_inferred_as_by_xla() {
    let text = |instruction: &str| {
        format!(
            "HloModule m
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
one {{ a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, b) ROOT t = (f32[]) tuple(c) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }}
step {{ a = f32[3] parameter(0) b = f32[3] parameter(1) c = f32[3] add(a, b) ROOT t = (f32[3], f32[3]) tuple(c, c) }}
ENTRY main {{
  x = f32[2,3]{{0,1}} parameter(0)
  tiled = f32[2,3]{{1,0:T(2,128)S(1)}} parameter(1)
  c = c64[2,3] parameter(2)
  s = f32[] parameter(3)
  i = s32[] parameter(4)
  q = pred[] parameter(5)
  v = f32[8] parameter(6)
  image = f32[1,8,8,3] parameter(7)
  kernel = bf16[3,3,3,4] parameter(8)
  square = f32[4,4]{{0,1}} parameter(9)
  places = s32[5,1] parameter(10)
  some = f32[<=8] parameter(11)
  rows = f32[<=4,4] parameter(12)
  short = bf16[2,3] parameter(13)
  half = f16[2,3] parameter(14)
  f = f32[3] parameter(15)
  byte = s8[2,3] parameter(16)
  n = s32[2,3] parameter(17)
  ROOT y = {instruction}
}}
"
        )
    };
    for (instruction, shape) in [
        ("real(c)", "f32[2,3]{1,0}"),
        ("imag(x)", "f32[2,3]{0,1}"),
        ("abs(tiled)", "f32[2,3]{1,0:T(2,128)S(1)}"),
        ("complex(x, x)", "c64[2,3]{0,1}"),
        ("add(short, x)", "f32[2,3]{1,0}"),
        ("add(half, short)", "bf16[2,3]{1,0}"),
        ("add(v, some)", "f32[<=8]{0}"),
        ("select(q, x, x)", "f32[2,3]{0,1}"),
        ("clamp(tiled, x, tiled)", "f32[2,3]{0,1}"),
        ("pad(x, s), padding=1_1x0_0_1", "f32[4,5]{1,0}"),
        ("pad(some, s), padding=1_1", "f32[<=10]{0}"),
        ("convolution(image, kernel), window={size=3x3}, dim_labels=b01f_01io->b01f", "f32[1,6,6,4]{3,2,1,0}"),
        ("reduce-window(x, s), window={size=1x2}, to_apply=add", "f32[2,2]{1,0}"),
        ("reduce-window(x, s), window={size=1x2}, to_apply=one", "f32[2,2]{1,0}"),
        ("reduce(x, s), dimensions={0}, to_apply=one", "(f32[3]{0})"),
        ("reduce(rows, s), dimensions={1}, to_apply=add", "f32[<=4]{0}"),
        ("map(x, x), dimensions={0,1}, to_apply=add", "f32[2,3]{1,0}"),
        ("transpose(x), dimensions={1,0}", "f32[3,2]{1,0}"),
        ("transpose(tiled), dimensions={1,0}", "f32[3,2]{0,1:T(2,128)S(1)}"),
        ("transpose(rows), dimensions={1,0}", "f32[4,<=4]{0,1}"),
        ("reverse(x), dimensions={0}", "f32[2,3]{0,1}"),
        ("broadcast(s), dimensions={}", "f32[]"),
        ("dot(byte, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "s32[3,3]{1,0}"),
        ("dot(square, square), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[4,4]{1,0}"),
        ("cholesky(square), lower=true", "f32[4,4]{0,1}"),
        ("fft(v), fft_type=RFFT, fft_length={8}", "c64[5]{0}"),
        (
            "gather(x, places), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, \
             slice_sizes={1,3}",
            "f32[5,3]{1,0}",
        ),
        ("select-and-scatter(square, square, s), window={size=1x1}, select=less, scatter=add", "f32[4,4]{0,1}"),
        (
            "batch-norm-training(image, f, f), epsilon=0.1, feature_index=3",
            "(f32[1,8,8,3]{3,2,1,0}, f32[3]{0}, f32[3]{0})",
        ),
        ("topk(square), k=4, is_stable=true", "(f32[4,4]{1,0}, s32[4,4]{1,0})"),
        ("scan(x, f), dimensions={0}, num_carries=1, to_apply=step", "(f32[2,3]{1,0}, f32[3]{0})"),
        ("get-dimension-size(x), dimensions={0}", "s32[]"),
        ("set-dimension-size(x, i), dimensions={0}", "f32[<=2,3]{0,1}"),
    ] {
        assert_eq!(find(&parse(&text(instruction)), "y").shape.to_string(), shape, "{instruction}");
    }
    for instruction in
        ["convert(x)", "reshape(x)", "iota(), iota_dimension=0", "custom-call(x), custom_call_target=\"f\""]
    {
        let found = places(&text(instruction));
        assert!(found.len() == 1 && found[0].contains("expected a shape before"), "{instruction}: {found:?}");
    }
    // The error is the wrong operand, not the missing shape.
    let found = places(&text("pad(x, v), padding=1_1x0_0"));
    assert_eq!(found, ["25:19 operand 1 of `pad` must be f32[], found f32[8]"]);
}

/// XLA's parser accepts a text without a header, without an entry, and a single instruction.
#[test]
fn texts_that_are_parts_of_modules() {
    let body = "{\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}\n";
    let found = |text: &str| {
        let module = parse(text);
        let entry = &module.computations[module.entry];
        let names = entry.instructions.iter().map(|i| &*i.name).collect::<Vec<_>>().join(" ");
        (module.name, entry.name.clone(), names, entry.result().name.clone())
    };
    let expected = |module: &str, entry: &str, names: &str, root: &str| {
        (module.to_string(), entry.to_string(), names.to_string(), root.to_string())
    };
    for (text, module) in [
        (format!("HloModule m\nmain {body}"), "m"),
        (format!("ENTRY main {body}"), "module_main"),
        (format!("main {body}"), "module_main"),
        (format!("first {body}main {body}"), "module_main"),
        (format!("HloModule m\nENTRY main {body}last {body}"), "m"),
        (format!("HloModule m\nENTRY main (x f32[4]) -> f32[4] {body}"), "m"),
        (format!("main (x: f32[4]) -> f32[4] {body}"), "module_main"),
    ] {
        assert_eq!(found(&text), expected(module, "main", "x y", "y"), "{text}");
    }
    for (text, names, root) in [
        ("f32[4] negate(f32[4] x)", "x _", "_"),
        ("ROOT %y = f32[4] negate(f32[4] %x)", "x y", "y"),
        ("y = f32[4] add(f32[4] x, x)", "x y", "y"),
        ("f32[4] add(f32[4], f32[4])", "_0 _1 _", "_"),
        ("f32[4] add(f32[4] x, f32[4] negate(f32[4] z))", "x z _(1) _", "_"),
        ("negated = negate(f32[4] x)", "x negated", "negated"),
        ("f32[] constant(3)", "_", "_"),
        (
            "f32[] reduce(f32[4] x, f32[] z), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, b) }",
            "x z _",
            "_",
        ),
    ] {
        assert_eq!(found(text), expected("_", "_", names, root), "{text}");
    }
    assert_eq!(places("f32[4] negate(x)"), ["1:15 unknown instruction `x` in computation `_`"]);
    assert_eq!(places("f32[4] negate(f32[4] x) y"), ["1:25 expected the end of the text, found `y`"]);
}

/// `t#1#0` is element 0 of element 1; an instruction of that name comes first.
#[test]
fn parts_of_tuples_as_operands() {
    let body = |line: &str| format!("  t = (f32[10], (f32[20], f32[30])) parameter(0)\n{line}");
    let names = |text: &str| find_all(&parse(&module(text)));
    assert_eq!(
        names(&body("  a = f32[20] add(t#1#0, %t#1#0)\n  b = f32[10] negate(f32[10] t#0)\n")),
        ["t", "t_1 = t index=1", "t_1_0 = t_1 index=0", "a = t_1_0 t_1_0", "t_0 = t index=0", "b = t_0"]
    );
    assert_eq!(
        names(&body("  t_0 = f32[10] parameter(1)\n  a = f32[10] add(t#0, t_0)\n")),
        ["t", "t_0", "t_0.1 = t index=0", "a = t_0.1 t_0"]
    );
    assert_eq!(names("  %p#0 = f32[2] parameter(0)\n  y = f32[2] negate(%p#0)\n"), ["p#0", "y = p#0"]);
}

/// The instructions of the entry: their names, operands and tuple indices.
fn find_all(module: &Module) -> Vec<String> {
    let entry = &module.computations[module.entry];
    let line = |i: &Instruction| {
        let operands: Vec<&str> = i.operands.iter().map(|k| &*entry.instructions[*k].name).collect();
        let index = i.attribute("index").map(|index| format!(" index={index}")).unwrap_or_default();
        if operands.is_empty() { i.name.clone() } else { format!("{} = {}{index}", i.name, operands.join(" ")) }
    };
    entry.instructions.iter().map(line).collect()
}

/// An asynchronous update that binds the last operands starts the computation.
#[test]
fn operands_that_updates_bind() {
    let text = "HloModule m
f {
  p = f32[2,3] parameter(0)
  q = s32[] parameter(1)
  ROOT a = f32[2,3] abs(p)
}
ENTRY main {
  x = f32[2,3] parameter(0)
  n = s32[] parameter(1)
  s = ((), (), s32[]) call-start(), to_apply=f
  u = ((f32[2,3]), (), s32[]) async-update(s, x)
  w = ((f32[2,3], s32[]), f32[2,3]) async-update(u, n)
  ROOT d = f32[2,3] call-done(w)
}
";
    let module = parse(text);
    let operation = |name: &str| format!("{:?}", find(&module, name).operation);
    assert_eq!(operation("s"), "Leaves { numbers: [None] }");
    assert_eq!(operation("u"), "Leaves { numbers: [Some(0), None] }");
    assert!(operation("w").starts_with("Start(Start { operation: Call"), "{}", operation("w"));
    let w = find(&module, "w");
    assert_eq!((w.operands.len(), w.called.len()), (2, 1));
    // An operand whose shape differs from the parameter's.
    let wrong = places(&text.replace("n = s32[]", "n = s64[]"));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
}

/// An unknown attribute is skipped, with a warning at each occurrence.
#[test]
fn attributes_of_other_versions() {
    let text = "HloModule m, is_scheduled=true, newest=1
ENTRY e {
  x = f32[2] parameter(0), origin={{\"x\"}}
  ROOT y = f32[2] negate(x), quantized={a=1 b=\"c\"}, backend_config={}
}
";
    let warnings = parse(text).warnings;
    let found: Vec<_> = warnings.iter().map(|w| (w.line_column(text), w.to_string())).collect();
    let message = |name| format!("unknown attribute `{name}`, which is skipped: it may be of another version of XLA");
    assert_eq!(found, [(Some((1, 33)), message("newest")), (Some((4, 30)), message("quantized"))]);
}

/// A broadcast from a root that an operand names has the type of its first operand, as in XLA's parser: with and
/// without the attribute of newer versions, and with a root of any number type.
#[test]
fn broadcasts_from_a_root() {
    let text = |root: &str, result: &str, attribute: &str| {
        format!(
            "HloModule m, replica_count=2\nENTRY e {{\n  x = f32[4] parameter(0)\n  r = {root} parameter(1)\n  \
             ROOT y = {result} collective-broadcast(x, r), replica_groups={{{{0,1}}}}{attribute}\n}}\n"
        )
    };
    for root in ["s32[1]", "s32[]", "u32[1]", "s64[1]", "f32[1]"] {
        for attribute in ["", ", has_dynamic_root=true"] {
            let module = parse(&text(root, "f32[4]", attribute));
            let found = &module.computations[0].result().operation;
            assert!(
                matches!(found, Operation::Other { reason } if reason.ends_with("the root is an operand")),
                "{root}"
            );
        }
    }
    // Two operands, both broadcast.
    let module = parse(&text("s32[1]", "(f32[4], s32[1])", ""));
    assert!(matches!(module.computations[0].result().operation, Operation::Collective(_)));
    assert!(Module::parse(&text("pred[1]", "f32[4]", "")).is_err());
    assert!(Module::parse(&text("s32[1]", "f32[5]", "")).is_err());
}

/// Setting the size of a static dimension bounds it, there and in its users, as in XLA.
#[test]
fn sizes_that_are_set_in_static_shapes() {
    let body = |size: &str| {
        format!(
            "  x = f32[8] parameter(0)\n  n = s32[] {size}\n  y = f32[8] set-dimension-size(x, n), dimensions={{0}}\n  \
             z = f32[8] negate(y)\n  t = (f32[8], f32[8]) tuple(z, x)\n  ROOT r = f32[8] get-tuple-element(t), index=0\n"
        )
    };
    let shapes = |size: &str| {
        let module = parse(&module(&body(size)));
        ["y", "z", "t", "r"].map(|name| find(&module, name).shape.to_string()).join(" ")
    };
    let bounded = "f32[<=8]{0} f32[<=8]{0} (f32[<=8]{0}, f32[8]{0}) f32[<=8]{0}";
    assert_eq!((shapes("constant(3)"), shapes("parameter(1)")), (bounded.to_string(), bounded.to_string()));
    assert_eq!(shapes("constant(8)"), bounded.replace("<=", ""));
}

/// Stored texts: with a byte order mark, with other line ends, or not HLO at all.
#[test]
fn other_texts() {
    let text = module("x = f32[2] parameter(0)\nROOT y = f32[2] negate(x), metadata={op_name=\"a\"}\n");
    let names = |text: &str| {
        let module = parse(text);
        module.computations.iter().flat_map(|c| &c.instructions).map(|i| i.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&format!("\u{feff}{text}")), names(&text));
    assert_eq!(names(&text.replace('\n', "\r\n")), names(&text));
    let message = "expected HLO, which begins with `HloModule`, or StableHLO, found MLIR without operations of StableHLO: \
        `layout-opt` takes other dialects";
    let mlir = "  memref.global @x : memref<3xf32>\n";
    for (begin, place) in [("module @jit_f {\n", "1:1"), ("// A.\n#map = 1\nmodule {\n", "2:1")] {
        let found = places(&format!("{begin}{mlir}}}"));
        assert_eq!(found, [format!("{place} {message}")], "{begin}");
    }
    assert_eq!(
        places("module"),
        ["1:1 expected `HloModule` and the module's name, a computation or an instruction, found `module`"]
    );
}

/// Every operation of the language is known, including asynchronous ones.
#[test]
fn all_opcodes() {
    let names = "abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce \
        all-reduce-done all-reduce-start all-to-all and asin asinh async-done async-start async-update atan2 atanh \
        batch-norm-grad batch-norm-inference batch-norm-training bitcast bitcast-convert broadcast call cbrt ceil \
        cholesky clamp collective-broadcast collective-permute collective-permute-done collective-permute-start \
        compare complex concatenate conditional constant convert convolution copy copy-done copy-start cosh cosine \
        count-leading-zeros custom-call divide domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf \
        exponential exponential-minus-one fft floor fusion gather get-dimension-size get-tuple-element imag infeed \
        iota is-finite log log-plus-one logistic map maximum minimum multiply negate not opt-barrier or outfeed pad \
        parameter partition-id popcnt power ragged-all-to-all ragged-dot real recv recv-done reduce scaled-dot scan \
        reduce-precision reduce-scatter reduce-window remainder replica-id reshape reverse rng rng-bit-generator \
        rng-get-and-update-state round-nearest-afz round-nearest-even rsqrt scatter select select-and-scatter send \
        send-done set-dimension-size shift-left shift-right-arithmetic shift-right-logical sign sine sinh slice sort \
        sqrt stochastic-convert subtract tan tanh topk transpose triangular-solve tuple while xor \
        custom-call-start fusion-done slice-update";
    for name in names.split_whitespace() {
        let text = module(&format!("x = f32[2] {name}()\n"));
        let unknown = places(&text).iter().any(|place| place.contains("unknown operation"));
        assert!(!unknown, "{name}");
        assert!(name.ends_with("-done") || places(&module(&format!("x = f32[2] {name}q()\n"))).len() == 1);
    }
    assert_eq!(places(&module("x = f32[2] start-start()\n")), ["3:12 unknown operation `start-start`"]);
}

/// Any text gives a module, or errors at positions in the text.
pub(crate) fn survives(text: &str) {
    match Module::parse(text) {
        Ok(module) => ordered(&module),
        Err(errors) => {
            assert!((1..=Module::MAX_ERRORS).contains(&errors.len()), "{text}");
            assert!(errors.is_sorted_by_key(|error| error.at));
            for error in errors {
                assert!(error.at.is_some_and(|at| at <= text.len()), "{error}\n{text}");
                assert!(!error.message.is_empty() && !error.message.ends_with('.') || error.message.ends_with(".."));
            }
        }
    }
}

#[test]
fn truncations() {
    crate::long_test!();
    let text = &corpus()["lstm_scan.unopt"];
    for end in 0..text.trim_end().len() {
        survives(&text[..end]);
        assert!(Module::parse(&text[..end]).is_err(), "{end}");
    }
}

/// A text with up to three changes, each of fewer than `length` bytes: nothing, a character, a piece or a word instead.
pub(crate) fn changed(
    random: &mut fastrand::Rng,
    text: String,
    length: usize,
    [pieces, words]: [&[&str]; 2],
) -> String {
    let mut bytes = text.into_bytes();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..bytes.len());
        let end = (at + random.usize(..length)).min(bytes.len());
        let new = match random.u8(..4) {
            0 => vec![],
            1 => vec![random.u8(32..127)],
            2 => random.choice(pieces).unwrap().as_bytes().to_vec(),
            _ => random.choice(words).unwrap().as_bytes().to_vec(),
        };
        bytes.splice(at..end, new);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutations() {
    crate::long_test!();
    let mut random = fastrand::Rng::with_seed(42);
    let mut texts: Vec<String> = corpus().into_values().filter(|text| text.len() < 5000).collect();
    texts.extend(blocks::read("hlo/kinds.txt", "> ").into_iter().map(|block| block.text));
    let pieces =
        ["{", "}", "(", ")", "[", "]", "\"", ",", "=", "%", "/*", "*/", "//", "\n", "ROOT ", "ENTRY ", "é", "0"];
    let words =
        ["-1", "9223372036854775807", "99999999999999999999", "x", "f32[?]", "token[]", "{...}", "\0", "<=", "->"];
    for round in 0..20_000 {
        let text = random.choice(&texts).unwrap().clone();
        survives(&changed(&mut random, text, if round % 3 == 0 { 40 } else { 3 }, [&pieces, &words]));
    }
    for _ in 0..1000 {
        let bytes: Vec<u8> = (0..random.usize(..400)).map(|_| random.u8(..)).collect();
        survives(&String::from_utf8_lossy(&bytes));
        survives(&format!("HloModule m {}", String::from_utf8_lossy(&bytes)));
    }
}

#[test]
fn deep_and_wide() {
    for (open, close) in [("(", ")"), ("{", "}"), ("[", "]")] {
        let nested = open.repeat(200_000) + &close.repeat(200_000);
        survives(&module(&format!("x = {nested} parameter(0)\n")));
        survives(&module(&format!("x = f32[] constant({nested})\n")));
        survives(&module(&format!("x = f32[] parameter(0), sharding={nested}\n")));
        parse(&module(&format!("x = f32[] parameter(0), origin={{{nested}}}\n")));
        survives(&module(&format!("x = f32[] parameter(0), sharding={}\n", &nested[..200_000])));
        survives(&format!("HloModule m, a={nested}"));
    }
    // An error on each line.
    let errors = Module::parse(&module(&"x = f32[2] sub(y)\n".repeat(10_000))).unwrap_err();
    assert_eq!(errors.len(), Module::MAX_ERRORS);
    // A chain of calls recurses neither in the text nor here.
    let call = |i: usize| match i {
        0 => "c0 {\n x = f32[] parameter(0)\n}\n".to_string(),
        _ => format!("c{i} {{\n x = f32[] parameter(0)\n y = f32[] call(x), to_apply=c{}\n}}\n", i - 1),
    };
    let chain: String = (0..20_000).rev().map(call).collect();
    let module = parse(&format!("HloModule m\nENTRY {chain}"));
    assert_eq!((module.entry, module.computations.len()), (19_999, 20_000));
    ordered(&module);
}

/// A module of 100,000 lines; `--nocapture` shows how long half of it and all of it take.
#[test]
fn long_texts() {
    crate::long_test!();
    let line = |i: usize| match i % 4 {
        0 => format!(
            "  %a.{i} = f32[8,128]{{1,0}} add(%a.{}, %p), metadata={{op_name=\"f/add\" source_line={i}}}\n",
            i - 4
        ),
        1 => format!("  %t.{i} = f32[128,8]{{0,1}} transpose(%a.{}), dimensions={{1,0}}\n", i - 1),
        2 => format!(
            "  %d.{i} = f32[8,8] dot(%a.{}, %t.{}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
            i - 2,
            i - 1
        ),
        _ => format!("  %f.{i} = f32[] fusion(%s, %s), kind=kLoop, calls=%add, backend_config={{\"a\":[\"{i}\"]}}\n"),
    };
    for lines in [50_000, 100_000] {
        let mut body =
            "  %p = f32[8,128] parameter(0)\n  %s = f32[] constant(1)\n  %a.0 = f32[8,128] copy(p)\n".to_string();
        body.extend((4..lines).map(line));
        let text = module(&body);
        let start = std::time::Instant::now();
        let module = parse(&text);
        println!("{lines} lines, {} bytes: {:?}", text.len(), start.elapsed());
        assert_eq!(module.computations[module.entry].instructions.len(), lines - 1);
        let broken = text.replace("dimensions={1,0}", "dimensions={1,0");
        let start = std::time::Instant::now();
        assert_eq!(Module::parse(&broken).unwrap_err().len(), Module::MAX_ERRORS);
        println!("broken: {:?}", start.elapsed());
        // In reverse order, so that each line uses the next one.
        let reversed: Vec<&str> = body.lines().rev().collect();
        let start = std::time::Instant::now();
        ordered(&parse(&self::module(&(reversed.join("\n") + "\n"))));
        println!("reversed: {:?}", start.elapsed());
    }
}

/// The sizes after slices, padding and windows, counted element by element.
#[test]
fn sizes_are_as_counted() {
    let case = |rng: &mut Choices| {
        let size = rng.i64(0..12);
        let padding = [rng.i64(-3..4), rng.i64(-3..4), rng.i64(0..3)];
        let window = [rng.i64(1..5), rng.i64(1..4), rng.i64(1..4)];
        let start = rng.i64(0..=size);
        (size, padding, window, [start, rng.i64(start..=size)])
    };
    choices::check(2000, 3, case, |&(size, [low, high, interior], [window, step, dilation], [start, limit])| {
        // The padded row's positions and elements; negative padding removes elements.
        let mut row: Vec<i64> = (0..size).flat_map(|i| std::iter::once(i).chain((0..interior).map(|_| -1))).collect();
        row.truncate(row.len() - if size == 0 { 0 } else { interior as usize });
        let places = (-low..row.len() as i64 + high).count() as i64;
        let whole = row.len() as i64 + low + high;
        let windows = (0..places)
            .filter(|start| start % step == 0 && (0..window).all(|i| start + i * dilation < places))
            .count() as i64;
        let sliced = (start..limit).filter(|i| (i - start) % step == 0).count() as i64;
        let base = interior + 1;
        let check = |n: i64, right: bool, operation: &str| {
            let text =
                module(&format!("x = f32[{size}] parameter(0)\ns = f32[] constant(0)\ny = f32[{n}] {operation}\n"));
            assert_eq!(Module::parse(&text).is_ok(), right, "{text}");
        };
        for off in [0, 1] {
            check(sliced + off, off == 0, &format!("slice(x), slice={{[{start}:{limit}:{step}]}}"));
            if whole >= 0 {
                check(places + off, off == 0, &format!("pad(x, s), padding={low}_{high}_{interior}"));
            }
            let fields =
                format!("size={window} stride={step} pad={low}_{high} lhs_dilate={base} rhs_dilate={dilation}");
            check(windows + off, off == 0, &format!("reduce-window(x, s), window={{{fields}}}, to_apply=add"));
        }
    });
}

/// The reader orders the operands of a `ConcatBitcast` by offset; the text has them in the order of their copies.
#[test]
fn parts_of_a_buffer() {
    let operands = |slices: [&str; 3], of: [&str; 3], constraints: &str| {
        let mut text =
            String::from("HloModule m\nENTRY e {\n  x = f32[6,9] parameter(0)\n  y = f32[6,9] parameter(1)\n");
        for k in 0..3 {
            let (slice, of) = (slices[k], of[k]);
            text += &format!(
                "  s{k} = ((f32[6,9]), f32[2,9], s32[]) slice-start({of}), slice={slice}\n  p{k} = f32[2,9] slice-done(s{k})\n"
            );
        }
        let call = format!("custom-call(p0, p1, p2), custom_call_target=\"ConcatBitcast\"{constraints}");
        let module = Module::parse(&format!("{text}  ROOT r = f32[6,9] {call}\n}}\n")).unwrap();
        let main = &module.computations[module.entry];
        let names = |i: &usize| main.instructions[*i].name.to_string();
        main.instructions[main.root].operands.iter().map(names).collect::<Vec<_>>()
    };
    let (low, middle, high) = ("{[0:2], [0:9]}", "{[2:4], [0:9]}", "{[4:6], [0:9]}");
    assert_eq!(operands([low, middle, high], ["x"; 3], ""), ["p0", "p1", "p2"]);
    assert_eq!(operands([middle, high, low], ["x"; 3], ""), ["p2", "p0", "p1"]);
    assert_eq!(operands([high, low, middle], ["x"; 3], ""), ["p1", "p2", "p0"]);
    // Parts of two arrays, or with a part twice, keep the order of the text; so does a list with an entry for each
    // operand.
    assert_eq!(operands([middle, high, low], ["x", "x", "y"], ""), ["p0", "p1", "p2"]);
    assert_eq!(operands([high, low, low], ["x"; 3], ""), ["p0", "p1", "p2"]);
    let each = ", operand_layout_constraints={f32[2,9], f32[2,9], f32[2,9]}";
    assert_eq!(operands([middle, high, low], ["x"; 3], each), ["p0", "p1", "p2"]);
}
