// Combines blocks of updates into arrays of data, one after the other, in place. The loops run over the rows of the
// indices and then over the elements of a block. In each dimension of the data a block begins at 0, at a row's index
// (`row`) or at an element of the indices (`number`), and goes along a loop over the block (`place`) or is one element
// wide. A block whose start is not below `count` does not fit and is dropped: the first loop over it runs to 0.
{% set data, updates = arrays | map(attribute="data") | list, arrays | map(attribute="update") | list %}
{% set elements, n = arrays | map(attribute="element") | list, arrays | length %}
{% set others = arrays | map(attribute="update_element") | list %}
{% set kinds = (others + elements if updates_first else elements + others) | join(", ") %}
{% set checks = starts | selectattr("count") | list %}

func.func private @combine({{ kinds }}) -> ({{ elements | join(", ") }})

func.func @main(%indices: {{ indices }}, {% for t in updates %}%update{{ loop.index0 }}: {{ t }}, {% endfor %}
{% for t in data %}%data{{ loop.index0 }}: {{ t }}{{ ", " if not loop.last }}{% endfor %}) -> ({{ data | join(", ") }}) {
{% for line in prologue %}
  {{ line }}
{% endfor %}
{{ open("row", rows, "%data$", data) -}}
{% for s in starts if s.number %}
    %number{{ s.dim }} = tensor.extract %indices[{{ s.number }}] : {{ indices }}
{% if cast %}
    %start{{ s.dim }} = arith.{{ cast }} %number{{ s.dim }} : {{ kind }} to index
{% else %}
    %start{{ s.dim }} = arith.addi %number{{ s.dim }}, %c0 : index
{% endif %}
{% endfor %}
{% for s in checks %}
{% set start = "%start" ~ s.dim if s.number else "%c0" %}
    %inside{{ loop.index0 }} = arith.cmpi ult, {{ start }}, {{ s.count }} : index
{% if not loop.first %}
{% set before = "%inside0" if loop.index0 == 1 else "%fits" ~ (loop.index0 - 1) %}
    %fits{{ loop.index0 }} = arith.andi {{ before }}, %inside{{ loop.index0 }} : i1
{% endif %}
{% endfor %}
{% set most = block[0] %}
{% if checks %}
{% set most, fits = "%most", "%fits" ~ (checks | length - 1) if checks | length > 1 else "%inside0" %}
    %most = arith.select {{ fits }}, {{ block[0] }}, %c0 : index
{% endif %}
{% set bounds = [most] + block[1:] %}
{{ open("at", bounds, "%row_in$", data) | indent(2, true) }}
{% for s in starts %}
{% set start = "%start" ~ s.dim if s.number else "%row" ~ s.row if s.row is not none else "" %}
{% if start and s.place is not none %}
      %position{{ s.dim }} = arith.addi {{ start }}, %at{{ s.place }} : index
{% endif %}
{% endfor %}
{% set position %}
{% for s in starts %}
{% set start = "%start" ~ s.dim if s.number else "%row" ~ s.row if s.row is not none else "" %}
{% set place = "%at" ~ s.place if s.place is not none else "" %}
{{ "%position" ~ s.dim if start and place else start or place or "%c0" }}{{ ", " if not loop.last -}}
{% endfor %}
{% endset %}
{% set position = position | replace("\n", "") %}
{% for a in arrays %}
      %old{{ loop.index0 }} = tensor.extract %at_in{{ loop.index0 }}[{{ position }}] : {{ a.data }}
{% endfor %}
{% for a in arrays %}
      %new{{ loop.index0 }} = tensor.extract %update{{ loop.index0 }}[{{ update_at }}] : {{ a.update }}
{% endfor %}
{% set old, new = each("%old$", n), each("%new$", n) %}
      {{ each("%combined$", n) }} = func.call @combine({{ new ~ ", " ~ old if updates_first else old ~ ", " ~ new }}) : ({{ kinds }}) -> ({{ elements | join(", ") }})
{% for a in arrays %}
      %next{{ loop.index0 }} = tensor.insert %combined{{ loop.index0 }} into %at_in{{ loop.index0 }}[{{ position }}] : {{ a.data }}
{% endfor %}
{{ close("at", bounds, "%next$", data) | indent(2, true) }}
{{ close("row", rows, "%at_out$", data) -}}
  return {{ each("%row_out$", n) }} : {{ data | join(", ") }}
}
