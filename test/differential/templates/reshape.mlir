func.func @{{ name }}{{ signature }} {
{% if collapse %}
  %s = tensor.collapse_shape %a0 {{ groups }} : {{ a0 }} into {{ s }}
{% else %}
  %s = tensor.expand_shape %a0 {{ groups }} output_shape {{ sizes }} : {{ a0 }} into {{ s }}
{% endif %}
  %d = {{ arith("add", s.element) }} %s, %s : {{ s }}
  %r = layout.convert %d : {{ s }} to {{ r }}
  return %r : {{ r }}
}
