{# Steps on arguments, allocations and constants, which are numbered together. #}
{% macro v(k) %}{{ "%a" if k < count else "%v" }}{{ k }}{% endmacro %}
{% set ij = "affine_map<(i, j) -> (i, j)>" %}
{% macro in_place(name, type, body) %}
  linalg.generic {indexing_maps = [{{ ij }}], iterator_types = ["parallel", "parallel"]} outs({{ name }} : {{ type }}) {
  ^bb0(%x0: {{ type.element }}):
{% for line in body %}
    {{ line }}
{% endfor %}
    linalg.yield %r : {{ type.element }}
  }
{% endmacro %}
{% for text in data %}
memref.global "private" constant @{{ name }}_c{{ loop.index0 }} : {{ types[constants + loop.index0] }} = dense<{{ text }}>
{% endfor %}
{% for s in steps if s.kind == "call" %}
func.func private @{{ name }}_{{ s.name }}(%x: {{ types[s.x] }}) {
{{ in_place("%x", types[s.x], s.body) }}
  return
}
{% endfor %}
func.func @{{ name }}{{ signature }} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %condition = arith.cmpi eq, %i0, %one : index
{% for t in types %}
{% if loop.index0 >= constants %}
  %v{{ loop.index0 }} = memref.get_global @{{ name }}_c{{ loop.index0 - constants }} : {{ t }}
{% elif loop.index0 >= count %}
  %v{{ loop.index0 }} = memref.alloc() : {{ t }}
{% endif %}
{% endfor %}
{% for s in steps %}
{% if s.kind == "text" %}
  {{ s.line }}
{% elif s.kind == "fill" %}
  %f{{ s.name }} = arith.constant {{ s.number }} : {{ types[s.to].element }}
  linalg.fill ins(%f{{ s.name }} : {{ types[s.to].element }}) outs({{ v(s.to) }} : {{ types[s.to] }})
{% elif s.kind == "pick" %}
  %{{ s.name }} = scf.if %condition -> {{ types[s.x] }} {
    scf.yield {{ v(s.x) }} : {{ types[s.x] }}
  } else {
    scf.yield {{ v(s.y) }} : {{ types[s.x] }}
  }
{{ in_place("%" ~ s.name, types[s.x], s.body) }}
{% elif s.kind == "call" %}
  func.call @{{ name }}_{{ s.name }}({{ v(s.x) }}) : ({{ types[s.x] }}) -> ()
{% else %}
{% set t = types[s.output.x] %}
  linalg.generic {
    indexing_maps = [{% for x in s.inputs %}{{ map(s.rank, x.dims) }}, {% endfor %}{{ map(s.rank, s.output.dims) }}],
    iterator_types = {{ iterators(s.rank, s.output.dims) }}
  } ins({% for x in s.inputs %}{{ v(x.x) }}{{ ", " if not loop.last }}{% endfor %} : {% for x in s.inputs %}{{ types[x.x] }}{{ ", " if not loop.last }}{% endfor %}) outs({{ v(s.output.x) }} : {{ t }}) {
  ^bb0({% for x in s.inputs %}%x{{ loop.index0 }}: {{ t.element }}, {% endfor %}%x{{ s.inputs | length }}: {{ t.element }}):
{% for line in s.body %}
    {{ line }}
{% endfor %}
    linalg.yield {{ s.result }} : {{ t.element }}
  }
{% endif %}
{% endfor %}
{% for t in types %}
{% if count <= loop.index0 < constants %}
  memref.dealloc %v{{ loop.index0 }} : {{ t }}
{% endif %}
{% endfor %}
  return
}
