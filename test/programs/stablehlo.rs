//! StableHLO text: every operation, programs that are HLO texts, too, values, shardings, and wrong texts.

use super::hlo::{changed, survives};
use layout_reference::blocks::{self, parse, places};
use layout_reference::interpreter::number::rounded;
use layout_reference::interpreter::{self, Number, Value};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Attribute, Instruction, Sharding, Values};

/// The text of a file in `test/stablehlo`.
fn file(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/test/stablehlo/");
    std::fs::read_to_string(format!("{folder}{name}.mlir")).unwrap()
}

/// `, name=text`.
fn written(attributes: &[Attribute]) -> String {
    attributes.iter().map(|own| format!(", {}={}", own.name, own.text)).collect()
}

/// The header and the instructions of a module as lines of text.
fn lines(text: &str) -> Vec<String> {
    let module = parse(text);
    let mut lines = vec![format!("HloModule {}{}", module.name, written(&module.attributes))];
    for computation in &module.computations {
        lines.push(computation.name.clone());
        for instruction in &computation.instructions {
            let Instruction { name, shape, opcode, operands, literal, attributes, .. } = instruction;
            let operands: Vec<&str> = operands.iter().map(|k| &*computation.instructions[*k].name).collect();
            let value = literal.as_ref().map_or(String::new(), |own| own.text.clone());
            lines.push(format!("  {name} = {shape} {opcode}({}{value}){}", operands.join(", "), written(attributes)));
        }
    }
    lines
}

#[test]
fn every_operation() {
    blocks::check("stablehlo/operations.txt", "> ", lines);
}

/// Each error of each text, with its line and column.
#[test]
fn wrong_texts() {
    blocks::check("stablehlo/errors.txt", "! ", places);
}

/// Names apart, a module is the same from both forms.
#[test]
fn the_generic_form_is_the_pretty_one() {
    for name in ["attention", "resnet_block", "softmax"] {
        let [pretty, generic] = [name.to_string(), format!("{name}.generic")].map(|name| parse(&file(&name)));
        assert_eq!(pretty.graphs(), generic.graphs(), "{name}");
    }
}

/// The results of the entry, which has no parameters.
fn results(body: &str, kind: &str) -> Vec<Value> {
    let text = format!("func.func @main() -> {kind} {{\n{body}  return %r : {kind}\n}}\n");
    let module = parse(&text);
    interpreter::run(&module, module.entry, &[])
}

/// Functions that are expressions, against values of tables.
#[test]
fn functions_have_their_values() {
    let table: [(&str, &[f64], f64); 15] = [
        ("erfc", &[0.5], 0.479_500_122_186_953_5),
        ("erfc", &[3.0], 2.209_049_699_858_544e-5),
        ("erfc", &[-2.0], 1.995_322_265_018_953),
        ("erf_inv", &[0.5], 0.476_936_276_204_469_9),
        ("erf_inv", &[-0.999], -2.326_753_765_513_524_5),
        ("lgamma", &[2.5], 0.284_682_870_472_919_2),
        ("lgamma", &[-1.5], 0.860_047_015_376_481),
        ("digamma", &[2.5], 0.703_156_640_645_243_2),
        ("digamma", &[-0.5], 0.036_489_973_978_576_52),
        ("bessel_i1e", &[1.0], 0.207_910_415_349_708_5),
        ("bessel_i1e", &[-20.0], -0.087_506_222_183_288_67),
        ("zeta", &[2.0, 1.0], 1.644_934_066_848_226_4),
        ("polygamma", &[1.0, 2.5], 0.490_357_756_100_234_85),
        ("polygamma", &[0.0, 2.5], 0.703_156_640_645_243_2),
        ("atan", &[2.0], 1.107_148_717_794_090_4),
    ];
    for (name, arguments, value) in table {
        for (kind, tolerance) in [("tensor<f32>", 2e-5), ("tensor<f64>", 1e-9)] {
            if name == "bessel_i1e" && kind == "tensor<f64>" {
                continue;
            }
            let constant = |(k, x): (usize, &f64)| format!("  %{k} = stablehlo.constant dense<{x:e}> : {kind}\n");
            let constants: String = arguments.iter().enumerate().map(constant).collect();
            let names: Vec<String> = (0..arguments.len()).map(|k| format!("%{k}")).collect();
            let kinds = vec![kind; arguments.len()].join(", ");
            let line = format!("  %r = chlo.{name} {} : {kinds} -> {kind}\n", names.join(", "));
            let found = results(&(constants + &line), kind);
            let Number::Float(found) = found[0].data[0] else { panic!("{name}") };
            assert!(
                (found - value).abs() <= tolerance * value.abs().max(1e-3),
                "{name} {arguments:?}: {found}, not {value}"
            );
        }
    }
}

/// The exponential of a complex number.
fn exponential((x, y): (f64, f64)) -> (f64, f64) {
    (x.exp() * y.cos(), x.exp() * y.sin())
}

/// `(exp(z) + sign exp(-z)) / 2`, which is `cosh` for 1 and `sinh` for -1.
fn hyperbolic((x, y): (f64, f64), sign: f64) -> (f64, f64) {
    let (up, down) = (exponential((x, y)), exponential((-x, -y)));
    ((up.0 + sign * down.0) / 2.0, (up.1 + sign * down.1) / 2.0)
}

fn quotient((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    let size = c * c + d * d;
    ((a * c + b * d) / size, (b * c - a * d) / size)
}

/// Functions of complex numbers, by definitions with `exp`: those of inverse functions are the numbers again.
#[test]
fn complex_functions_follow_from_the_exponential() {
    type Law = fn((f64, f64)) -> (f64, f64);
    let same: Law = |z| z;
    let sine: Law = |(x, y)| {
        let (re, im) = hyperbolic((-y, x), -1.0);
        (im, -re)
    };
    let tangent: Law = |(x, y)| {
        let (re, im) = quotient(hyperbolic((-y, x), -1.0), hyperbolic((-y, x), 1.0));
        (im, -re)
    };
    let laws: [(&str, Law, Law); 10] = [
        ("chlo.acos", |(x, y)| hyperbolic((-y, x), 1.0), same),
        ("chlo.acosh", |z| hyperbolic(z, 1.0), same),
        ("chlo.asin", sine, same),
        ("chlo.asinh", |z| hyperbolic(z, -1.0), same),
        ("chlo.atan", tangent, same),
        ("chlo.atanh", |z| quotient(hyperbolic(z, -1.0), hyperbolic(z, 1.0)), same),
        ("chlo.cosh", same, |z| hyperbolic(z, 1.0)),
        ("chlo.sinh", same, |z| hyperbolic(z, -1.0)),
        ("chlo.square", same, |(x, y)| (x * x - y * y, 2.0 * x * y)),
        ("stablehlo.log_plus_one", exponential, |(x, y)| (x + 1.0, y)),
    ];
    let mut random = fastrand::Rng::with_seed(11);
    for (name, of_result, of_number) in laws {
        let numbers: Vec<(f64, f64)> = (0..64)
            .map(|_| (random.f64() * 6.0 - 3.0, random.f64() * 6.0 - 3.0))
            .chain([(0.5, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -0.5), (1e-9, -1e-9)])
            .collect();
        let kind = format!("tensor<{}xcomplex<f64>>", numbers.len());
        let texts: Vec<String> = numbers.iter().map(|(x, y)| format!("({x:e}, {y:e})")).collect();
        let types = if name.starts_with("chlo") { format!("{kind} -> {kind}") } else { kind.clone() };
        let body =
            format!("  %z = stablehlo.constant dense<[{}]> : {kind}\n  %r = {name} %z : {types}\n", texts.join(", "));
        for (z, found) in numbers.iter().zip(&results(&body, &kind)[0].data) {
            let Number::Complex(x, y) = *found else { panic!("{name}") };
            let (found, wanted) = (of_result((x, y)), of_number(*z));
            let distance = (found.0 - wanted.0).hypot(found.1 - wanted.1);
            assert!(
                distance <= 1e-9 * wanted.0.hypot(wanted.1) + 1e-14,
                "{name} {z:?} is {x} {y}: {found:?}, not {wanted:?}"
            );
        }
    }
}

/// The values of bit patterns are numbers of the type, in the order of the patterns, and each value once.
#[test]
fn patterns_of_bits_are_the_numbers_of_a_type() {
    for element in ElementType::ALL.iter().filter(|own| own.is_float() && own.bits().is_some_and(|bits| bits <= 8)) {
        let kind = element.name().replace("f8e", "f8E").replace("f4e", "f4E").replace('m', "M").to_uppercase();
        let kind = kind.replacen('F', "f", 1);
        let count = 1usize << element.bits().unwrap();
        let digits: String = (0..count).map(|bits| format!("{bits:02X}")).collect();
        let body = format!("  %r = stablehlo.constant dense<\"0x{digits}\"> : tensor<{count}x{kind}>\n");
        let text =
            format!("func.func @main() -> tensor<{count}x{kind}> {{\n{body}  return %r : tensor<{count}x{kind}>\n}}\n");
        let module = parse(&text);
        let constant = module.computations[module.entry].result();
        let Some(Values::Floats(values)) = constant.literal.as_ref().map(|own| &own.values) else {
            panic!("{element}")
        };
        assert_eq!(values.len(), count);
        for value in values.iter().filter(|value| value.is_finite()) {
            assert_eq!(rounded(*element, *value), *value, "{element}");
        }
        let positive: Vec<f64> = values[..count / 2].iter().copied().filter(|value| value.is_finite()).collect();
        assert!(positive.windows(2).all(|pair| pair[0] < pair[1]), "{element}");
    }
}

/// A mesh of devices, and the axes of each dimension of an array, at random: the tiles are those of a device's digits.
#[test]
fn axes_are_tiles() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let sizes: Vec<usize> = (0..random.usize(1..4)).map(|_| [2, 3, 4][random.usize(..3)]).collect();
        let devices: usize = sizes.iter().product();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        random.shuffle(&mut order);
        let mut of_dims: Vec<Vec<usize>> = vec![Vec::new(); random.usize(1..4)];
        for axis in order {
            let dim = random.usize(..of_dims.len() + 1);
            if let Some(own) = of_dims.get_mut(dim) {
                own.push(axis);
            }
        }
        let mut numbers: Vec<usize> = (0..devices).collect();
        let listed = random.bool();
        if listed {
            random.shuffle(&mut numbers);
        }
        let axes: Vec<String> = sizes.iter().enumerate().map(|(k, size)| format!("\"a{k}\"={size}")).collect();
        let ids = if listed { format!(", device_ids={numbers:?}") } else { String::new() };
        let dims: Vec<String> = of_dims
            .iter()
            .map(|own| format!("{{{}}}", own.iter().map(|k| format!("\"a{k}\"")).collect::<Vec<_>>().join(", ")))
            .collect();
        let kind = format!("tensor<{}f32>", "24x".repeat(of_dims.len()));
        let text = format!(
            "module {{\n  sdy.mesh @m = <[{}]{ids}>\n  func.func @main(%a: {kind} {{sdy.sharding = #sdy.sharding<@m, \
             [{}]>}}) -> {kind} {{\n    %0 = stablehlo.negate %a : {kind}\n    return %0 : {kind}\n  }}\n}}\n",
            axes.join(", "),
            dims.join(", ")
        );
        let module = parse(&text);
        let entry = &module.computations[module.entry];
        let sharding = entry.instructions[entry.parameters[0]].attribute("sharding").unwrap();
        let Ok(sharding) = Sharding::read(sharding, of_dims.len()) else { panic!("{sharding}\n{text}") };
        let digit = |place: usize, axis: usize| place / sizes[axis + 1..].iter().product::<usize>() % sizes[axis];
        let part = |place: usize| -> Vec<usize> {
            of_dims
                .iter()
                .map(|own| own.iter().fold(0, |part, axis| part * sizes[*axis] + digit(place, *axis)))
                .collect()
        };
        let Sharding::Tiles(tiles) = sharding else {
            assert!(of_dims.iter().all(Vec::is_empty), "{text}");
            continue;
        };
        for (at, device) in tiles.devices.iter().enumerate() {
            let place = numbers.iter().position(|own| *own as i64 == *device).unwrap();
            let strides = |k: usize| tiles.sizes[k + 1..].iter().product::<i64>();
            let found: Vec<usize> =
                (0..of_dims.len()).map(|k| (at as i64 / strides(k) % tiles.sizes[k]) as usize).collect();
            assert_eq!(found, part(place), "{text}");
        }
    }
}

/// Changed texts give a module, or errors at their places.
#[test]
fn mutations() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut texts: Vec<String> =
        blocks::read("stablehlo/operations.txt", "> ").into_iter().map(|own| own.text).collect();
    texts.extend(["shard", "dynamic", "torch_conv1d_wave", "softmax.generic"].map(file));
    let pieces = [
        "{", "}", "(", ")", "[", "]", "<", ">", "\"", ",", "=", "%", "#", "@", "!", "->", ":", "?", "x", "//", "\n",
        "é", "-1",
    ];
    let words = [
        "9223372036854775807",
        "99999999999999999999",
        "tensor<?xf32>",
        "dense<",
        "loc(",
        "^bb0",
        "0x",
        "stablehlo.",
        "\0",
    ];
    for round in 0..4_000 {
        let text = random.choice(&texts).unwrap().clone();
        survives(&changed(&mut random, text, if round % 3 == 0 { 40 } else { 3 }, [&pieces, &words]));
    }
}

/// Short texts that mean much end soon: with a module, or with an error.
#[test]
fn short_texts_cost_little() {
    let kind = "tensor<2xf32>";
    let main = |body: &str| format!("func.func @main(%a: {kind}) -> {kind} {{\n{body}  return %a : {kind}\n}}\n");
    let function = |k: usize| {
        let call = format!("  %0 = call @f{}(%a) : ({kind}) -> {kind}\n", k + 1);
        format!("func.func private @f{k}(%a: {kind}) -> {kind} {{\n{call}  return %0 : {kind}\n}}\n")
    };
    let chain: String = (0..5_000).map(function).collect();
    let call = format!("  %0 = call @f0(%a) : ({kind}) -> {kind}\n");
    survives(&(main(&call) + &chain));

    let alias = |k: usize| format!("#loc{k} = loc(fused[{}])\n", vec![format!("#loc{}", k + 1); 16].join(", "));
    let aliases: String = (0..30).map(alias).collect();
    parse(&(aliases + &main(&format!("  %0 = stablehlo.negate %a : {kind} loc(#loc0)\n"))));

    for constant in ["dense<[]> : tensor<1000000000x0xf32>", "dense<0.0> : tensor<1000000000x1000000000xf32>"] {
        survives(&main(&format!("  %0 = stablehlo.constant {constant}\n")));
    }
    let depth = 20_000;
    let tuple = format!("{}{kind}{}", "tuple<".repeat(depth), ">".repeat(depth));
    survives(&format!("func.func @main(%a: {tuple}) -> {tuple} {{\n  return %a : {tuple}\n}}\n"));
    survives(&main(&"  %0:65536 = stablehlo.add %a, %a : tensor<2xf32>\n".repeat(200)));

    // Equal roles have names of their own, in linear time.
    let loops = format!(
        "  %x{{}} = stablehlo.while(%i = %a) : {kind} cond {{\n    %c = stablehlo.constant dense<true> : tensor<i1>\n    \
         stablehlo.return %c : tensor<i1>\n  }} do {{\n    stablehlo.return %i : {kind}\n  }}\n"
    );
    let many: String = (0..500).map(|k| loops.replace("{}", &k.to_string())).collect();
    parse(&main(&many));
}
