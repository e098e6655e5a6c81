{% set add = arith("add", r.element) %}
func.func {{ "private " if private }}@{{ name }}_helper(%x: {{ a0 }}, %y: {{ a1 }}) -> ({{ a1 }}, {{ a0 }}) {
  %z = layout.convert %x : {{ a0 }} to {{ a1 }}
  %s = {{ add }} %z, %y : {{ a1 }}
  %w = {{ add }} %x, %x : {{ a0 }}
  return %s, %w : {{ a1 }}, {{ a0 }}
}
func.func @{{ name }}{{ signature }} {
  %s:2 = func.call @{{ name }}_helper(%a0, %a1) : ({{ a0 }}, {{ a1 }}) -> ({{ a1 }}, {{ a0 }})
  %t:2 = func.call @{{ name }}_helper(%s#1, %s#0) : ({{ a0 }}, {{ a1 }}) -> ({{ a1 }}, {{ a0 }})
  %u = layout.convert %s#1 : {{ a0 }} to {{ a1 }}
  %v = {{ add }} %t#0, %u : {{ a1 }}
  %r = layout.convert %v : {{ a1 }} to {{ r }}
  return %r : {{ r }}
}
