func.func @{{ name }}{{ signature }} {
  %x = layout.convert %a0 : {{ a0 }} to {{ other }}
  %y = {{ arith("add", r.element) }} %x, %x : {{ other }}
  %z = layout.convert %y : {{ other }} to {{ r }}
  return %z : {{ r }}
}
