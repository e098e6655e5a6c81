func.func @{{ name }}{{ signature }} {
  %e = tensor.empty() : {{ r }}
  %r = linalg.transpose ins(%a0 : {{ a0 }}) outs(%e : {{ r }}) permutation = {{ permutation }}
  return %r : {{ r }}
}
