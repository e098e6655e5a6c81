{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %b = layout.convert %a1 : {{ a1 }} to {{ r }}
  %s = {{ arith(first, t) }} %a0, %b : {{ r }}
  %m = {{ arith(second, t) }} %s, %a0 : {{ r }}
  %c = {{ compare("lt", t) }}, %m, %b : {{ r }}
  %r = arith.select %c, %m, %a0 : {{ bits }}, {{ r }}
  return %r : {{ r }}
}
