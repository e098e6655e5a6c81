{% from "macros.mlir" import generic %}
{% set t = r.element %}
func.func private @{{ name }}_same(%x: {{ r }}) -> {{ r }} {
  return %x : {{ r }}
}
func.func @{{ name }}{{ signature }} {
{% for d in unknown %}
  %d{{ d }} = arith.constant {{ d }} : index
  %n{{ d }} = tensor.dim %a0, %d{{ d }} : {{ a0 }}
{% endfor %}
  %e = tensor.empty({% for d in unknown %}%n{{ d }}{{ ", " if not loop.last }}{% endfor %}) : {{ r }}
  %b = layout.convert %a1 : {{ a1 }} to {{ r }}
  %y = {% call generic([operand("%a0", a0, dims), operand("%b", r, dims)], operand("%e", r, dims), rank) %}
    %z = {{ arith("sub", t) }} %x0, %x1 : {{ t }}
    linalg.yield %z : {{ t }}
{% endcall %}
{% if through == 1 %}
  %r = func.call @{{ name }}_same(%y) : ({{ r }}) -> {{ r }}
{% elif through == 2 %}
  %five = arith.constant 5 : index
  %small = arith.cmpi ult, %n{{ unknown[0] }}, %five : index
  %r = scf.if %small -> {{ r }} {
    scf.yield %y : {{ r }}
  } else {
    scf.yield %b : {{ r }}
  }
{% elif through == 3 %}
  %k = tensor.cast %y : {{ r }} to {{ known }}
  %l = {% call generic([operand("%k", known, dims), operand("%k", known, dims)], operand("%k", known, dims), rank) %}
    %z = {{ arith("add", t) }} %x0, %x1 : {{ t }}
    linalg.yield %z : {{ t }}
{% endcall %}
  %r = tensor.cast %l : {{ known }} to {{ r }}
{% else %}
  %r = layout.convert %y : {{ r }} to {{ r }}
{% endif %}
  return %r : {{ r }}
}
