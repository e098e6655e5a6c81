// A random number of each element, by Philox with the element's number as the counter: from the first operand to before
// the second, or around the first one.
func.func @random(%first: {{ of }}, %second: {{ of }}) -> {{ of }} {
  %number = func.call @number() : () -> i64
  %a, %b = func.call @halves(%number) : (i64) -> (i32, i32)
  %p = arith.constant {{ key[0] }} : i32
  %q = arith.constant {{ key[1] }} : i32
  %word0, %word1, %word2, %word3 = func.call @philox(%a, %b, %c0_i32, %c0_i32, %p, %q) : {{ philox }}
{% if pred %}
  %random = arith.trunci %word0 : i32 to i1
{% elif not float %}
  %bits = func.call @whole(%word0, %word1) : (i32, i32) -> i64
  %from = func.call @to_i64(%first) : ({{ of }}) -> i64
  %to = func.call @to_i64(%second) : ({{ of }}) -> i64
  %difference = arith.subi %to, %from : i64
  %is_empty = arith.cmpi eq, %difference, %c0_i64 : i64
  %width = arith.select %is_empty, %c1_i64, %difference : i64
  %rest = arith.remui %bits, %width : i64
  %sum = arith.addi %from, %rest : i64
  %random = func.call @of_i64(%sum) : (i64) -> {{ of }}
{% elif not normal %}
  %u = func.call @fraction(%word0) : (i32) -> {{ of }}
  %width = arith.subf %second, %first : {{ of }}
  %part = arith.mulf %width, %u : {{ of }}
  %random = arith.addf %part, %first : {{ of }}
{% else %}
  // sqrt(-2 * log(1 - u)) * cos(2 * pi * v) of two fractions is normally distributed.
  %u = func.call @fraction(%word0) : (i32) -> {{ of }}
  %v = func.call @fraction(%word1) : (i32) -> {{ of }}
  %one = arith.constant 1.0 : {{ of }}
  %two = arith.constant -2.0 : {{ of }}
  %turn = arith.constant 6.283185307179586 : {{ of }}
  %above = arith.subf %one, %u : {{ of }}
  %log = math.log %above : {{ of }}
  %square = arith.mulf %two, %log : {{ of }}
  %radius = math.sqrt %square : {{ of }}
  %angle = arith.mulf %turn, %v : {{ of }}
  %cosine = math.cos %angle : {{ of }}
  %unit = arith.mulf %radius, %cosine : {{ of }}
  %part = arith.mulf %unit, %second : {{ of }}
  %random = arith.addf %part, %first : {{ of }}
{% endif %}
  return %random : {{ of }}
}

// The upper 24 bits of a word as a fraction between 0 and 1.
func.func @fraction(%word: i32) -> {{ of }} {
  %bits = arith.shrui %word, %c8_i32 : i32
  %number = arith.sitofp %bits : i32 to f32
  %scale = arith.constant 5.9604644775390625e-8 : f32
  %f32 = arith.mulf %number, %scale : f32
  %fraction = func.call @of_f32(%f32) : (f32) -> {{ of }}
  return %fraction : {{ of }}
}
