{% from "macros.mlir" import loops %}
func.func @{{ name }}{{ signature }} {
{% call loops(sizes) %}
  %last = arith.constant {{ last }} : index
  %back = arith.subi %last, %j{{ back }} : index
  %x = memref.load %a0[{{ from | join(", ") }}] : {{ a0 }}
  memref.store %x, %a1[{{ to | join(", ") }}] : {{ a1 }}
{% endcall %}
  return
}
