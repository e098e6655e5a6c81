// The running combinations of an array along dimension `dim`, and the last of each line. An inclusive one begins with the
// first element of a line, an exclusive one with the element of the accumulator before it.
{% set types = [whole, sums] %}
{% set outer = bounds | length %}
{% macro indices(k) %}{% for b in bounds %}{{ ", " if loop.index0 }}{{ k if loop.index0 == dim else "%i" ~ loop.index0 }}{% endfor %}{% endmacro %}
{% macro others() %}{% for k in range(outer) if k != dim %}{{ ", " if not loop.first }}%i{{ k }}{% endfor %}{% endmacro %}
{% set bounds_of_nest = bounds[:dim] + ["%once"] + bounds[dim + 1:] %}

func.func private @combine({{ element }}, {{ element }}) -> {{ element }}

func.func @main(%source: {{ source }}, %begin0: {{ whole }}, %begin1: {{ sums }}) -> ({{ types | join(", ") }}) {
{% for line in prologue %}
  {{ line }}
{% endfor %}
  // A line without elements has no first one.
  %once = arith.minui {{ bounds[dim] }}, %c1 : index
{{ open("i", bounds_of_nest, "%begin$", types) -}}
    %sum = tensor.extract %i_in1[{{ others() }}] : {{ sums }}
{% if inclusive %}
    %first = tensor.extract %source[{{ indices("%c0") }}] : {{ source }}
{% endif %}
{% set first = "%first" if inclusive else "%sum" %}
    %begun = tensor.insert {{ first }} into %i_in0[{{ indices("%c0") }}] : {{ whole }}
    %last_value, %last, %next0 = scf.for %k = %c1 to {{ bounds[dim] }} step %c1 iter_args(
        %value = {{ first }}, %total = %sum, %line = %begun) -> ({{ element }}, {{ element }}, {{ whole }}) {
{% if not inclusive %}
      %previous = arith.subi %k, %c1 : index
{% endif %}
      %x = tensor.extract %source[{{ indices("%k" if inclusive else "%previous") }}] : {{ source }}
      %y = func.call @combine(%value, %x) : ({{ element }}, {{ element }}) -> {{ element }}
      %longer = tensor.insert %y into %line[{{ indices("%k") }}] : {{ whole }}
      scf.yield %y, %y, %longer : {{ element }}, {{ element }}, {{ whole }}
    }
    %next1 = tensor.insert %last into %i_in1[{{ others() }}] : {{ sums }}
{{ close("i", bounds_of_nest, "%next$", types) -}}
  return %i_out0, %i_out1 : {{ types | join(", ") }}
}
