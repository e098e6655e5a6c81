{% from "macros.mlir" import generic %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant {{ end }} : index
  %r = scf.for %k = %zero to %end step %one iter_args(%c = %a0) -> ({{ r }}) {
{% if step == "element" %}
    %y = tensor.extract %a1[{{ index | join(", ") }}] : {{ a1 }}
    %z = tensor.extract %c[{{ index | join(", ") }}] : {{ r }}
    %s = {{ arith("mul", t) }} %y, %z : {{ t }}
    %n = tensor.insert %s into %c[{{ index | join(", ") }}] : {{ r }}
{% elif step == "all" %}
    %n = {% call generic([operand("%a1", a1, dims)], operand("%c", r, dims), rank) %}
    %y = {{ arith("sub", t) }} %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
{% else %}
{% set place = "[" ~ starts | join(", ") ~ "] " ~ row_sizes ~ " " ~ ones %}
    %p = tensor.extract_slice %c{{ place }} : {{ r }} to {{ row }}
    %q = tensor.extract_slice %a1{{ place }} : {{ a1 }} to {{ other }}
    %u = {% call generic([operand("%q", other, dims)], operand("%p", row, dims), rank) %}
    %y = {{ arith("add", t) }} %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
    %n = tensor.insert_slice %u into %c{{ place }} : {{ row }} into {{ r }}
{% endif %}
    scf.yield %n : {{ r }}
  }
  return %r : {{ r }}
}
