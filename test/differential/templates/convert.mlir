func.func @{{ name }}{{ signature }} {
{% if twice %}
  %b = layout.convert %a0 : {{ a0 }} to {{ b }}
  %r = layout.convert %b : {{ b }} to {{ r }}
{% else %}
  %r = layout.convert %a0 : {{ a0 }} to {{ r }}
{% endif %}
  return %r : {{ r }}
}
