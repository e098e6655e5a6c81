// The number, from 1, of the first column of a factor whose diagonal element is not positive; 0 where all are.
{% set part = "%real" if complex else "%diagonal" %}
{% set real = of | replace("complex<", "") | replace(">", "") %}

func.func @main(%l: {{ from }}, %zeros: {{ into }}) -> {{ into }} {
  %zero = arith.constant 0.0 : {{ real }}
  %failure = scf.for %j = %c0 to %c{{ n }} step %c1 iter_args(%numbers = %zeros) -> ({{ into }}) {
    %diagonal = tensor.extract %l[{{ (outer + ["%j", "%j"]) | join(", ") }}] : {{ from }}
{% if complex %}
    %real = complex.re %diagonal : {{ of }}
{% endif %}
    // NaN is not positive, either.
    %fails = arith.cmpf ule, {{ part }}, %zero : {{ real }}
    %found = tensor.extract %numbers[{{ outer | join(", ") }}] : {{ into }}
    %is_none = arith.cmpi eq, %found, %c0_{{ number }} : {{ number }}
    %is_first = arith.andi %fails, %is_none : i1
    %column = arith.addi %j, %c1 : index
    %number = arith.index_cast %column : index to {{ number }}
    %info = arith.select %is_first, %number, %found : {{ number }}
    %next = tensor.insert %info into %numbers[{{ outer | join(", ") }}] : {{ into }}
    scf.yield %next : {{ into }}
  }
  return %failure : {{ into }}
}
