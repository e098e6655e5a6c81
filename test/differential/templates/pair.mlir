{% set t = r.element %}
{% set id = "affine_map<(i, j) -> (i, j)>" %}
func.func @{{ name }}{{ signature }} {
  %s = tensor.empty() : {{ s }}
  %e = tensor.empty() : {{ r }}
  %p:2 = linalg.generic {
    indexing_maps = [{{ id }}, {{ id }}, {{ id }}], iterator_types = ["parallel", "parallel"]
  } ins(%a0 : {{ a0 }}) outs(%s, %e : {{ s }}, {{ r }}) {
  ^bb0(%x0: {{ t }}, %x1: {{ t }}, %x2: {{ t }}):
    %y = {{ arith("add", t) }} %x0, %x0 : {{ t }}
    linalg.yield %x0, %y : {{ t }}, {{ t }}
  } -> ({{ s }}, {{ r }})
  %c = layout.convert %p#0 : {{ s }} to {{ r }}
  %r = {{ arith("mul", t) }} %c, %p#1 : {{ r }}
  return %r : {{ r }}
}
