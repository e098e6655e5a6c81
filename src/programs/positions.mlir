// The position of each element of an array along dimension `dim`.
func.func @main(%values: {{ values }}) -> {{ whole }} {
{% for line in prologue %}
  {{ line }}
{% endfor %}
  %positions = tensor.generate {{ dynamic | join(", ") }} {
  ^bb0({% for k in range(rank) %}%i{{ k }}: index{{ ", " if not loop.last }}{% endfor %}):
{% if element == "index" %}
    tensor.yield %i{{ dim }} : index
{% else %}
    %position = arith.index_cast %i{{ dim }} : index to {{ element }}
    tensor.yield %position : {{ element }}
{% endif %}
  } : {{ whole }}
  return %positions : {{ whole }}
}
