func.func @{{ name }}{{ signature }} {
  %s = tensor.extract_slice %a0[{{ from | join(", ") }}] {{ sizes }} {{ from_strides }} : {{ a0 }} to {{ s }}
  %t = {{ arith("add", s.element) }} %s, %s : {{ s }}
  %r = tensor.insert_slice %t into %a1[{{ to | join(", ") }}] {{ sizes }} {{ to_strides }} : {{ s }} into {{ a1 }}
  return %r : {{ r }}
}
