// Attention: the products of queries and keys, scaled and masked, as weights of the values by softmax. All is computed in
// `number`. A query all of whose scores are minus infinity gets zeros.
{# An operation on elements: its maps, its iterators, its operands with their types, its result's initial value and type. #}
{% macro generic(name, maps, iterators, ins, types, into, type) %}
  {{ name }} = linalg.generic {indexing_maps = [{{ maps | join(", ") }}], iterator_types = [{{ iterators }}]}
      ins({{ ins }} : {{ types }}) outs({{ into }} : {{ type }}) {
{% endmacro %}
{% macro value(name, type) %}{{ name ~ "_wide" if type != number else name }}{% endmacro %}
{% macro widened(name, type) %}
{% if type != number %}
    {{ name }}_wide = arith.extf {{ name }} : {{ type }} to {{ number }}
{% endif %}
{% endmacro %}

{% if has_body %}
func.func private @score({{ number }}) -> {{ number }}

{% endif %}
func.func @main(%query: {{ query.ty }}, %key: {{ key.ty }}, %value: {{ values.ty }}, {% if scale %}%factor: {{ scale }}, {% endif %}
{% if mask %}%mask: {{ mask.ty }}, {% endif %}%into: {{ result.ty }}) -> {{ result.ty }} {
{% for line in prologue %}
  {{ line }}
{% endfor %}
  %zero = arith.constant 0.0 : {{ number }}
  %nothing = arith.constant {{ infinity }} : {{ number }}
  %lowest = arith.constant {{ lowest }} : {{ number }}
{% if not scale %}
{% for size in inner %}
  %length{{ loop.index }} = arith.muli {{ "%length" ~ loop.index0 if not loop.first else "%c1" }}, {{ size }} : index
{% endfor %}
  %integer = arith.index_cast %length{{ inner | length }} : index to i64
  %float = arith.sitofp %integer : i64 to {{ number }}
  %root = math.sqrt %float : {{ number }}
  %unit = arith.constant 1.0 : {{ number }}
  %scale = arith.divf %unit, %root : {{ number }}
{% elif scale != number %}
  %scale = arith.{{ "truncf" if is_wide_scale else "extf" }} %factor : {{ scale }} to {{ number }}
{% endif %}
{% set scale_name = "%factor" if scale == number else "%scale" %}
  %no_scores = tensor.empty({{ scores.dynamic }}) : {{ scores.ty }}
  %no_products = linalg.fill ins(%zero : {{ number }}) outs(%no_scores : {{ scores.ty }}) -> {{ scores.ty }}
{{ generic("%products", products.maps, products.iterators, "%query, %key", query.ty ~ ", " ~ key.ty, "%no_products", scores.ty) -}}
  ^bb0(%q: {{ query.element }}, %k: {{ key.element }}, %sum: {{ number }}):
{{ widened("%q", query.element) -}}
{{ widened("%k", key.element) -}}
    %product = arith.mulf {{ value("%q", query.element) }}, {{ value("%k", key.element) }} : {{ number }}
    %next = arith.addf %sum, %product : {{ number }}
    linalg.yield %next : {{ number }}
  } -> {{ scores.ty }}
{% set operands, types = ("%products, %mask", scores.ty ~ ", " ~ mask.ty) if mask else ("%products", scores.ty) %}
{{ generic("%scores", masked.maps, masked.iterators, operands, types, "%no_scores", scores.ty) -}}
  ^bb0(%x: {{ number }}{% if mask %}, %m: {{ mask.element }}{% endif %}, %unread: {{ number }}):
    %scaled = arith.mulf %x, {{ scale_name }} : {{ number }}
{% if has_body %}
    %score = func.call @score(%scaled) : ({{ number }}) -> {{ number }}
{% endif %}
{% set score = "%score" if has_body else "%scaled" %}
{% if mask and mask.is_integer %}
{% if mask.element != "i1" %}
    %no = arith.constant 0 : {{ mask.element }}
    %seen = arith.cmpi ne, %m, %no : {{ mask.element }}
{% endif %}
    %kept = arith.select {{ "%m" if mask.element == "i1" else "%seen" }}, {{ score }}, %nothing : {{ number }}
{% elif mask %}
{{ widened("%m", mask.element) -}}
    %kept = arith.addf {{ score }}, {{ value("%m", mask.element) }} : {{ number }}
{% endif %}
    linalg.yield {{ "%kept" if mask else score }} : {{ number }}
  } -> {{ scores.ty }}
  %no_rows = tensor.empty({{ rows.dynamic }}) : {{ rows.ty }}
  %least = linalg.fill ins(%lowest : {{ number }}) outs(%no_rows : {{ rows.ty }}) -> {{ rows.ty }}
{{ generic("%most", reduced.maps, reduced.iterators, "%scores", scores.ty, "%least", rows.ty) -}}
  ^bb0(%x: {{ number }}, %high: {{ number }}):
    %next = arith.maximumf %high, %x : {{ number }}
    linalg.yield %next : {{ number }}
  } -> {{ rows.ty }}
{{ generic("%weights", shifted.maps, shifted.iterators, "%scores, %most", scores.ty ~ ", " ~ rows.ty, "%no_scores", scores.ty) -}}
  ^bb0(%x: {{ number }}, %high: {{ number }}, %unread: {{ number }}):
    %below = arith.subf %x, %high : {{ number }}
    %weight = math.exp %below : {{ number }}
    linalg.yield %weight : {{ number }}
  } -> {{ scores.ty }}
  %no_totals = linalg.fill ins(%zero : {{ number }}) outs(%no_rows : {{ rows.ty }}) -> {{ rows.ty }}
{{ generic("%totals", reduced.maps, reduced.iterators, "%weights", scores.ty, "%no_totals", rows.ty) -}}
  ^bb0(%x: {{ number }}, %sum: {{ number }}):
    %next = arith.addf %sum, %x : {{ number }}
    linalg.yield %next : {{ number }}
  } -> {{ rows.ty }}
  %no_results = tensor.empty({{ results.dynamic }}) : {{ results.ty }}
  %no_sums = linalg.fill ins(%zero : {{ number }}) outs(%no_results : {{ results.ty }}) -> {{ results.ty }}
{{ generic("%sums", weighted.maps, weighted.iterators, "%weights, %value", scores.ty ~ ", " ~ values.ty, "%no_sums", results.ty) -}}
  ^bb0(%weight: {{ number }}, %v: {{ values.element }}, %sum: {{ number }}):
{{ widened("%v", values.element) -}}
    %product = arith.mulf %weight, {{ value("%v", values.element) }} : {{ number }}
    %next = arith.addf %sum, %product : {{ number }}
    linalg.yield %next : {{ number }}
  } -> {{ results.ty }}
{{ generic("%done", divided.maps, divided.iterators, "%sums, %totals", results.ty ~ ", " ~ rows.ty, "%into", result.ty) -}}
  ^bb0(%x: {{ number }}, %total: {{ number }}, %unread: {{ result.element }}):
    %share = arith.divf %x, %total : {{ number }}
    %is_empty = arith.cmpf oeq, %total, %zero : {{ number }}
    %y = arith.select %is_empty, %zero, %share : {{ number }}
{% if result.element != number %}
    %narrow = arith.truncf %y : {{ number }} to {{ result.element }}
{% endif %}
    linalg.yield {{ "%narrow" if result.element != number else "%y" }} : {{ result.element }}
  } -> {{ result.ty }}
  return %done : {{ result.ty }}
}
