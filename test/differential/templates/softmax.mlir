{% from "macros.mlir" import generic, fill %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
{{ fill("%n", greatest, -1000) }}
  %m = {% call generic([operand("%a0", a0, all)], operand("%n", greatest, kept), rank) %}
    %y = arith.maximumf %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
  %e = tensor.empty() : {{ powers }}
  %x = {% call generic([operand("%a0", a0, all), operand("%m", greatest, kept)], operand("%e", powers, all), rank) %}
    %d = arith.subf %x0, %x1 : {{ t }}
    %y = math.exp %d : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
{{ fill("%o", sum, 0) }}
  %s = {% call generic([operand("%x", powers, all)], operand("%o", sum, kept), rank) %}
    %y = arith.addf %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
  %f = tensor.empty() : {{ r }}
  %r = {% call generic([operand("%x", powers, all), operand("%s", sum, kept)], operand("%f", r, all), rank) %}
    %y = arith.divf %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
