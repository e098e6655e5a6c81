func.func @{{ name }}{{ signature }} {
  %c = arith.constant dense<{{ data }}> : {{ r }}
  %r = {{ "arith.xori" if r.element == "i1" else arith("sub", r.element) }} %a0, %c : {{ r }}
  return %r : {{ r }}
}
