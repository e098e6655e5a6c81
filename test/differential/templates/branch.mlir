func.func @{{ name }}{{ signature }} {
  %one = arith.constant 1 : index
  %k = arith.cmpi slt, %i0, %one : index
  %s = scf.if %k -> ({{ r }}) {
    %x = layout.convert %a0 : {{ a0 }} to {{ r }}
    scf.yield %x : {{ r }}
  } else {
    %x = layout.convert %a1 : {{ a1 }} to {{ r }}
    %y = {{ arith("mul", r.element) }} %x, %x : {{ r }}
    scf.yield %y : {{ r }}
  }
  %r = {{ arith("add", r.element) }} %s, %s : {{ r }}
  return %r : {{ r }}
}
