// The low and the high half of a number.
func.func @halves(%x: i64) -> (i32, i32) {
  %above = arith.shrui %x, %c32_i64 : i64
  %low = arith.trunci %x : i64 to i32
  %high = arith.trunci %above : i64 to i32
  return %low, %high : i32, i32
}

func.func @whole(%low: i32, %high: i32) -> i64 {
  %below = arith.extui %low : i32 to i64
  %long = arith.extui %high : i32 to i64
  %above = arith.shli %long, %c32_i64 : i64
  %x = arith.ori %below, %above : i64
  return %x : i64
}

// The row-major number of an element of `linalg.generic`.
func.func @number() -> i64 {
  %number0 = arith.constant 0 : i64
{% for size in sizes %}
{% set k = loop.index0 %}
  %index{{ k }} = linalg.index {{ k }} : index
  %digit{{ k }} = arith.index_cast %index{{ k }} : index to i64
  %above{{ k }} = arith.muli %number{{ k }}, %c{{ size }}_i64 : i64
  %number{{ k + 1 }} = arith.addi %above{{ k }}, %digit{{ k }} : i64
{% endfor %}
  return %number{{ sizes | length }} : i64
}

{% set philox = "(i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)" %}
// Philox: four words scrambled by a key of two words, in 10 rounds.
func.func @philox(%w0: i32, %x0: i32, %y0: i32, %z0: i32, %p0: i32, %q0: i32) -> (i32, i32, i32, i32) {
  %factor_w = arith.constant 0xD2511F53 : i64
  %factor_y = arith.constant 0xCD9E8D57 : i64
  %step_p = arith.constant 0x9E3779B9 : i32
  %step_q = arith.constant 0xBB67AE85 : i32
{% for k in range(10) %}
{% set next = k + 1 %}
  %z{{ next }}, %high_w{{ k }} = func.call @product(%w{{ k }}, %factor_w) : (i32, i64) -> (i32, i32)
  %x{{ next }}, %high_y{{ k }} = func.call @product(%y{{ k }}, %factor_y) : (i32, i64) -> (i32, i32)
  %mixed_x{{ k }} = arith.xori %high_y{{ k }}, %x{{ k }} : i32
  %w{{ next }} = arith.xori %mixed_x{{ k }}, %p{{ k }} : i32
  %mixed_z{{ k }} = arith.xori %high_w{{ k }}, %z{{ k }} : i32
  %y{{ next }} = arith.xori %mixed_z{{ k }}, %q{{ k }} : i32
  %p{{ next }} = arith.addi %p{{ k }}, %step_p : i32
  %q{{ next }} = arith.addi %q{{ k }}, %step_q : i32
{% endfor %}
  return %w10, %x10, %y10, %z10 : i32, i32, i32, i32
}

func.func @product(%x: i32, %factor: i64) -> (i32, i32) {
  %long = arith.extui %x : i32 to i64
  %product = arith.muli %long, %factor : i64
  %low, %high = func.call @halves(%product) : (i64) -> (i32, i32)
  return %low, %high : i32, i32
}
