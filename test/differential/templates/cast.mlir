{% from "macros.mlir" import generic, cast, cast_name %}
func.func @{{ name }}{{ signature }} {
  %e = tensor.empty() : {{ r }}
  %r = {% call generic(inputs, operand("%e", r, dims), rank) %}
{% set state = namespace(sum="") %}
{% for x in inputs %}
{% set number = "%x" ~ loop.index0 %}
{{ cast("%w" ~ loop.index0, number, x.type.element, wide) }}
{% set number = cast_name("%w" ~ loop.index0, number, x.type.element, wide) %}
{% if loop.first %}
{% set state.sum = number %}
{% else %}
    %s{{ loop.index0 }} = {{ arith(ops[loop.index0], wide) }} {{ state.sum }}, {{ number }} : {{ wide }}
{% set state.sum = "%s" ~ loop.index0 %}
{% endif %}
{% endfor %}
{% if index is not none %}
    %i = linalg.index {{ index }} : index
    %seven = arith.constant 7 : index
    %j = arith.andi %i, %seven : index
    %k = arith.index_cast %j : index to {{ integer }}
{{ cast("%l", "%k", integer, wide) }}
    %m = {{ arith("add", wide) }} {{ state.sum }}, {{ cast_name("%l", "%k", integer, wide) }} : {{ wide }}
{% set state.sum = "%m" %}
{% endif %}
{% if select %}
    %zero = arith.constant {{ literal(0, wide) }} : {{ wide }}
    %c = {{ compare("gt", wide) }}, {{ state.sum }}, %zero : {{ wide }}
    %n = arith.select %c, {{ state.sum }}, %zero : {{ wide }}
{% set state.sum = "%n" %}
{% endif %}
{{ cast("%y", state.sum, wide, r.element) }}
    linalg.yield {{ cast_name("%y", state.sum, wide, r.element) }} : {{ r.element }}
{% endcall %}
  return %r : {{ r }}
}
