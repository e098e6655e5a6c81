// The next state, and the words of one counter after the other. The counter has 128 bits. Its high half is the last
// number of the state: in a state of two numbers, the key.
func.func @bits(%state: {{ state }}) -> ({{ state }}, {{ line }}) {
  %key = tensor.extract %state[%c0] : {{ state }}
  %low = tensor.extract %state[%c1] : {{ state }}
  %high = tensor.extract %state[%c{{ 2 if long else 0 }}] : {{ state }}
  %p, %q = func.call @halves(%key) : (i64) -> (i32, i32)
  %empty = tensor.empty() : {{ line }}
  %line = scf.for %block = %c0 to %c{{ blocks }} step %c1 iter_args(%line0 = %empty) -> ({{ line }}) {
    %steps = arith.index_cast %block : index to i64
    %low_now, %high_now = func.call @counter(%low, %high, %steps) : (i64, i64, i64) -> (i64, i64)
    %a, %b = func.call @halves(%low_now) : (i64) -> (i32, i32)
    %c, %d = func.call @halves(%high_now) : (i64) -> (i32, i32)
    %word0, %word1, %word2, %word3 = func.call @philox(%a, %b, %c, %d, %p, %q) : {{ philox }}
    %pair0 = func.call @whole(%word0, %word1) : (i32, i32) -> i64
    %pair1 = func.call @whole(%word2, %word3) : (i32, i32) -> i64
    %first = arith.muli %block, %c{{ size }} : index
{% for k in range(size) %}
    %at{{ k }} = arith.addi %first, %c{{ k }} : index
    %line{{ k + 1 }} = tensor.insert %{{ "pair" if wide else "word" }}{{ k }} into %line{{ k }}[%at{{ k }}] : {{ line }}
{% endfor %}
    scf.yield %line{{ size }} : {{ line }}
  }
  %next_low, %next_high = func.call @counter(%low, %high, %c{{ blocks }}_i64) : (i64, i64, i64) -> (i64, i64)
  %next = tensor.from_elements %key, %next_low{{ ", %next_high" if long }} : {{ state }}
  return %next, %line : {{ state }}, {{ line }}
}

// The counter after some steps, with a carry from the low into the high half.
func.func @counter(%low: i64, %high: i64, %steps: i64) -> (i64, i64) {
  %next_low = arith.addi %low, %steps : i64
  %wraps = arith.cmpi ult, %next_low, %low : i64
  %carry = arith.extui %wraps : i1 to i64
  %next_high = arith.addi %high, %carry : i64
  return %next_low, %next_high : i64, i64
}
