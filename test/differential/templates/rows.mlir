{% set t = a0.element %}
{% set types = {"%a0": a0, "%a1": a1, "%a2": a2, "%a3": a3, "%m": m, "%n": n, "%v": v} %}
func.func @{{ name }}{{ signature }} {
  %m = memref.alloc() : {{ m }}
  %n = memref.alloc() : {{ n }}
  %v = memref.alloc() : {{ v }}
  memref.copy %a0, %m : {{ a0 }} to {{ m }}
  memref.copy %a1, %n : {{ a1 }} to {{ n }}
  memref.copy %a2, %v : {{ a2 }} to {{ v }}
{% for s in steps %}
  linalg.generic {
    indexing_maps = [{{ map(2, s.dims[0]) }}, {{ map(2, s.dims[1]) }}, {{ map(2, s.dims[2]) }}],
    iterator_types = {{ iterators(2, s.dims[2]) }}
  } ins({{ s.of[0] }}, {{ s.of[1] }} : {{ types[s.of[0]] }}, {{ types[s.of[1]] }}) outs({{ s.of[2] }} : {{ types[s.of[2]] }}) {
  ^bb0(%x: {{ t }}, %y: {{ t }}, %z: {{ t }}):
    %p = {{ arith(s.op, t) }} %x, %y : {{ t }}
    %q = {{ arith("add", t) }} %p, {{ "%z" if s.adds else "%y" }} : {{ t }}
    linalg.yield %q : {{ t }}
  }
{% endfor %}
  memref.copy %m, %a0 : {{ m }} to {{ a0 }}
  memref.copy %n, %a1 : {{ n }} to {{ a1 }}
  memref.copy %v, %a2 : {{ v }} to {{ a2 }}
  memref.dealloc %m : {{ m }}
  memref.dealloc %n : {{ n }}
  memref.dealloc %v : {{ v }}
  return
}
