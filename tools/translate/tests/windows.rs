//! Computations of windows behind calls, and arrays beyond 64 bits.

use tensor_layout::hlo::Module;

/// A window along the elements; `SUM` is its computation. All but `twice` are sums of both parameters.
const SUMS: &str = "HloModule sums
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
same {
  ROOT a = f32[] parameter(0)
}
by_call {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] call(a, b), to_apply=add
}
by_calls {
  b = f32[] parameter(1)
  a = f32[] parameter(0)
  d = f32[] fusion(b), kind=kLoop, calls=same
  ROOT c = f32[] call(d, a), to_apply=by_call
}
one_of {
  a = f32[] parameter(0)
  t = (f32[], f32[]) parameter(1)
  u = f32[] parameter(2)
  b = f32[] get-tuple-element(t), index=1
  c = f32[] add(b, a)
  d = f32[] exponential(u)
  ROOT r = (f32[], f32[]) tuple(d, c)
}
by_tuples {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  k = f32[] constant(2)
  t = (f32[], f32[]) tuple(k, a)
  c = (f32[], f32[]) fusion(b, t, k), kind=kLoop, calls=one_of
  ROOT d = f32[] get-tuple-element(c), index=1
}
twice {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] call(a, b), to_apply=add
  ROOT d = f32[] call(c, b), to_apply=add
}
ENTRY e {
  x = f32[1000]{0} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[1000]{0} reduce-window(x, z), window={size=1000 pad=0_999}, to_apply=SUM
}
";

#[test]
fn a_sum_behind_calls_runs_along_the_elements() {
    let has_loop = |computation: &str| {
        let text = SUMS.replace("SUM", computation);
        let mlir = layout_translate::import(&Module::parse(&text).unwrap(), &text, "sums.hlo").unwrap();
        mlir.contains("scf.for")
    };
    assert_eq!(["add", "by_call", "by_calls", "by_tuples", "twice"].map(has_loop), [true, true, true, true, false]);
}

/// Windows that end with the array, of a computation whose result is a tuple of one.
#[test]
fn a_tuple_of_one_runs_along_the_elements() {
    let text = "HloModule one
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] add(a, b)
  ROOT t = (f32[]) tuple(c)
}
ENTRY main {
  x = f32[4000] parameter(0)
  z = f32[] constant(0)
  ROOT r = (f32[4000]) reduce-window(x, z), window={size=4000 pad=0_3999}, to_apply=sum
}
";
    let mlir = layout_translate::import(&Module::parse(text).unwrap(), text, "one.hlo").unwrap();
    assert!(mlir.contains("scf.for"), "{mlir}");
}

/// Each computation calls the one before it twice: 2^39 copies.
#[test]
fn calls_of_calls_take_no_longer() {
    let mut text = "HloModule deep\nf0 {\n  a = f32[] parameter(0)\n  ROOT b = f32[] convert(a)\n}\n".to_string();
    for k in 1..40 {
        let [first, second] = ["a", "b"].map(|of| format!("f32[] call({of}), to_apply=f{}", k - 1));
        text += &format!("f{k} {{\n  a = f32[] parameter(0)\n  b = {first}\n  ROOT c = {second}\n}}\n");
    }
    text += &SUMS["HloModule sums\n".len()..].replace("SUM", "deep").replace(
        "ENTRY",
        "deep {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  d = f32[] call(b), to_apply=f39
  ROOT c = f32[] add(a, d)
}
ENTRY",
    );
    let module = Module::parse(&text).unwrap();
    assert!(layout_translate::import(&module, &text, "deep.hlo").is_ok());
}

#[test]
fn an_array_of_too_many_bytes_is_refused_at_its_place() {
    let text = "HloModule big\nENTRY e {\n  ROOT x = f32[4611686018427387904]{0} parameter(0)\n}\n";
    let errors = layout_translate::import(&Module::parse(text).unwrap(), text, "big.hlo").unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].line_column(text), Some((3, 8)));
    assert_eq!(errors[0].message, "the size in bytes does not fit in 64 bits");
}
