// Takes blocks of an array at indices, as many as the result has. `position` is the place in the source of an element of
// the result; a number of `numbers` is an element of the indices, brought into the dimension `dim` of the source.
func.func @main(%source: {{ source }}, %indices: {{ indices }}, %into: {{ whole }}) -> {{ whole }} {
{% for line in prologue %}
  {{ line }}
{% endfor %}
  %gathered = linalg.generic {indexing_maps = [{{ map }}], iterator_types = [{{ iterators }}]}
      outs(%into : {{ whole }}) {
  ^bb0(%unread: {{ element }}):
{% for k in range(rank) %}
    %i{{ k }} = linalg.index {{ k }} : index
{% endfor %}
{% for n in numbers %}
    %number{{ n.dim }} = tensor.extract %indices[{{ n.at }}] : {{ indices }}
{% if kind != "index" %}
    %index{{ n.dim }} = arith.index_cast %number{{ n.dim }} : {{ kind }} to index
{% else %}
    %index{{ n.dim }} = arith.addi %number{{ n.dim }}, %c0 : index
{% endif %}
    %last{{ n.dim }} = arith.subi {{ n.size }}, %c1 : index
    %low{{ n.dim }} = arith.maxsi %index{{ n.dim }}, %c0 : index
    %at{{ n.dim }} = arith.minsi %low{{ n.dim }}, %last{{ n.dim }} : index
{% endfor %}
    %element = tensor.extract %source[{{ position }}] : {{ source }}
    linalg.yield %element : {{ element }}
  } -> {{ whole }}
  return %gathered : {{ whole }}
}
