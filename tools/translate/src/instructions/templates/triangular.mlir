// Solves op(A) x = b row by row, from the first or the last one, over b: the rows before, times the elements of row i of
// op(A), are subtracted from row i; the rest is divided by the diagonal element. In x op(A) = b, columns are the rows.
{% set sub, mul, div = ("complex.sub", "complex.mul", "complex.div") if complex
  else ("arith.subf", "arith.mulf", "arith.divf") %}
{% set advance, first = ("addi", 0) if (lower != transposed) == left else ("subi", n - 1) %}
{% set width = sizes[1] if left else sizes[0] %}
{% macro at(i, k) %}{{ (outer + ([i, k] if left else [k, i])) | join(", ") }}{% endmacro %}

func.func @main(%a: {{ from }}, %b: {{ into }}) -> {{ into }} {
  %x = scf.for %step = %c0 to %c{{ n }} step %c1 iter_args(%begin = %b) -> ({{ into }}) {
    %i = arith.{{ advance }} %c{{ first }}, %step : index
    %rest = scf.for %before = %c0 to %step step %c1 iter_args(%rows = %begin) -> ({{ into }}) {
      %j = arith.{{ advance }} %c{{ first }}, %before : index
      %factor = func.call @element(%a, %i, %j) : ({{ from }}, index, index) -> {{ of }}
      %reduced = scf.for %k = %c0 to %c{{ width }} step %c1 iter_args(%row = %rows) -> ({{ into }}) {
        %old = tensor.extract %row[{{ at("%i", "%k") }}] : {{ into }}
        %known = tensor.extract %row[{{ at("%j", "%k") }}] : {{ into }}
        %product = {{ mul }} %factor, %known : {{ of }}
        %difference = {{ sub }} %old, %product : {{ of }}
        %next = tensor.insert %difference into %row[{{ at("%i", "%k") }}] : {{ into }}
        scf.yield %next : {{ into }}
      }
      scf.yield %reduced : {{ into }}
    }
{% if unit %}
    scf.yield %rest : {{ into }}
{% else %}
    %diagonal = func.call @element(%a, %i, %i) : ({{ from }}, index, index) -> {{ of }}
    %divided = scf.for %k = %c0 to %c{{ width }} step %c1 iter_args(%row = %rest) -> ({{ into }}) {
      %old = tensor.extract %row[{{ at("%i", "%k") }}] : {{ into }}
      %quotient = {{ div }} %old, %diagonal : {{ of }}
      %next = tensor.insert %quotient into %row[{{ at("%i", "%k") }}] : {{ into }}
      scf.yield %next : {{ into }}
    }
    scf.yield %divided : {{ into }}
{% endif %}
  }
  return %x : {{ into }}
}

// An element of op(A) for rows, of its transpose for columns.
func.func @element(%a: {{ from }}, %i: index, %j: index) -> {{ of }} {
{% set indices = outer + (["%j", "%i"] if transposed == left else ["%i", "%j"]) %}
  %element = tensor.extract %a[{{ indices | join(", ") }}] : {{ from }}
{% if adjoint and complex %}
  %conjugate = complex.conj %element : {{ of }}
{% endif %}
  return {{ "%conjugate" if adjoint and complex else "%element" }} : {{ of }}
}
