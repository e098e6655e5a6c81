{# What the templates share. The functions `map`, `iterators`, `operand`, `arith`, `literal` and `cast_op` are in template.rs. #}

{# A `linalg.generic`; the caller's text is its body, in which `%x0`, `%x1`, .. are the elements, the output's last. #}
{% macro generic(inputs, output, rank) %}
linalg.generic {
    indexing_maps = [{% for x in inputs %}{{ map(rank, x.dims) }}, {% endfor %}{{ map(rank, output.dims) }}],
    iterator_types = {{ iterators(rank, output.dims) }}
  } {% if inputs %}ins({{ inputs | map(attribute="name") | join(", ") }} : {{ inputs | map(attribute="type") | join(", ") }}){% endif %} outs({{ output.name }} : {{ output.type }}) {
  ^bb0({% for x in inputs %}%x{{ loop.index0 }}: {{ x.type.element }}, {% endfor %}%x{{ inputs | length }}: {{ output.type.element }}):
{{ caller() }}
  } -> {{ output.type }}
{% endmacro %}

{# Sets a name to a tensor with the same number everywhere. #}
{% macro fill(name, type, number) %}
  {{ name }}_number = arith.constant {{ literal(number, type.element) }} : {{ type.element }}
  {{ name }}_empty = tensor.empty() : {{ type }}
  {{ name }} = linalg.fill ins({{ name }}_number : {{ type.element }}) outs({{ name }}_empty : {{ type }}) -> {{ type }}
{% endmacro %}

{# Sets a name to a number as another element; nothing where the elements are the same, see `cast_name`. #}
{% macro cast(name, number, from, to) %}
{% if from != to %}
    {{ name }} = {{ cast_op(from, to) }} {{ number }} : {{ from }} to {{ to }}
{% endif %}
{% endmacro %}

{# The name that `cast` leaves the number in. #}
{% macro cast_name(name, number, from, to) %}{{ number if from == to else name }}{% endmacro %}

{# Loops around the caller's text over indices `%j0`, `%j1`, .. below these sizes. #}
{% macro loops(sizes) %}
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
{% for n in sizes %}
  %n{{ loop.index0 }} = arith.constant {{ n }} : index
  scf.for %j{{ loop.index0 }} = %zero to %n{{ loop.index0 }} step %one {
{% endfor %}
{{ caller() }}
{% for n in sizes %}
  }
{% endfor %}
{% endmacro %}
