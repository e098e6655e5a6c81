// The next state, the counter, and the halves of the key.
func.func @state(%state: {{ state }}) -> ({{ state }}, i64, i32, i32) {
  %key = tensor.extract %state[%c0] : {{ state }}
  %counter = tensor.extract %state[%c1] : {{ state }}
  %next_counter = arith.addi %counter, %c{{ steps }}_i64 : i64
  %next = tensor.from_elements %key, %next_counter : {{ state }}
  %key0, %key1 = func.call @halves(%key) : (i64) -> (i32, i32)
  return %next, %counter, %key0, %key1 : {{ state }}, i64, i32, i32
}

// The counter of an element, scrambled by the key in 20 rounds.
func.func @words(%counter: i64, %key0: i32, %key1: i32) -> {{ "i64" if wide else "(i32, i32)" }} {
  %number = func.call @number() : () -> i64
  %own = arith.addi %counter, %number : i64
  %low, %high = func.call @halves(%own) : (i64) -> (i32, i32)
  %parity = arith.constant 0x1BD11BDA : i32
  %both = arith.xori %key0, %key1 : i32
  %key2 = arith.xori %both, %parity : i32
  %a0 = arith.addi %low, %key0 : i32
  %b0 = arith.addi %high, %key1 : i32
{% for k in range(20) %}
{% set next, turn = k + 1, [13, 15, 26, 6, 17, 29, 16, 24][k % 8] %}
{% set sum, mixed = ("%a" ~ next, "%b" ~ next) if next % 4 else ("%sum" ~ k, "%mixed" ~ k) %}
  {{ sum }} = arith.addi %a{{ k }}, %b{{ k }} : i32
  %above{{ k }} = arith.shli %b{{ k }}, %c{{ turn }}_i32 : i32
  %below{{ k }} = arith.shrui %b{{ k }}, %c{{ 32 - turn }}_i32 : i32
  %turned{{ k }} = arith.ori %above{{ k }}, %below{{ k }} : i32
  {{ mixed }} = arith.xori {{ sum }}, %turned{{ k }} : i32
{% if next % 4 == 0 %}
  %a{{ next }} = arith.addi {{ sum }}, %key{{ next // 4 % 3 }} : i32
  %keyed{{ k }} = arith.addi {{ mixed }}, %key{{ (next // 4 + 1) % 3 }} : i32
  %b{{ next }} = arith.addi %keyed{{ k }}, %c{{ next // 4 }}_i32 : i32
{% endif %}
{% endfor %}
{% if wide %}
  %word = func.call @whole(%a20, %b20) : (i32, i32) -> i64
{% endif %}
  return {{ "%word : i64" if wide else "%a20, %b20 : i32, i32" }}
}

// The word of an element where the two words of each counter are neighbours along a dimension.
func.func @neighbour(%first: {{ half }}, %second: {{ half }}) -> i32 {
{% for size in sizes %}
  %{{ "element" if loop.index0 == split else "at" ~ loop.index0 }} = linalg.index {{ loop.index0 }} : index
{% endfor %}
{% set at %}{% for size in sizes %}%at{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
  %rest = arith.remui %element, %c2 : index
  %is_first = arith.cmpi eq, %rest, %c0 : index
  %at{{ split }} = arith.divui %element, %c2 : index
  %a = tensor.extract %first[{{ at }}] : {{ half }}
  %b = tensor.extract %second[{{ at }}] : {{ half }}
  %word = arith.select %is_first, %a, %b : i32
  return %word : i32
}
