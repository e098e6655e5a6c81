// The triangular factor of a matrix, column by column, over one triangle of a tensor. The upper factor is the adjoint of
// the lower one: the same program, with rows in the place of columns.
{% set sub, mul, div, sqrt = ("complex.sub", "complex.mul", "complex.div", "complex.sqrt") if complex
  else ("arith.subf", "arith.mulf", "arith.divf", "math.sqrt") %}
{% macro at(i, j) %}{{ (outer + ([i, j] if lower else [j, i])) | join(", ") }}{% endmacro %}

func.func @main(%a: {{ from }}, %begin: {{ into }}) -> {{ into }} {
  %factor = scf.for %j = %c0 to %c{{ n }} step %c1 iter_args(%columns = %begin) -> ({{ into }}) {
    %square = func.call @rest(%a, %columns, %j, %j) : ({{ from }}, {{ into }}, index, index) -> {{ of }}
    %root = {{ sqrt }} %square : {{ of }}
    %with_root = tensor.insert %root into %columns[{{ at("%j", "%j") }}] : {{ into }}
    %below = arith.addi %j, %c1 : index
    %column = scf.for %i = %below to %c{{ n }} step %c1 iter_args(%l = %with_root) -> ({{ into }}) {
      %rest = func.call @rest(%a, %l, %i, %j) : ({{ from }}, {{ into }}, index, index) -> {{ of }}
      %element = {{ div }} %rest, %root : {{ of }}
      %next = tensor.insert %element into %l[{{ at("%i", "%j") }}] : {{ into }}
      scf.yield %next : {{ into }}
    }
    scf.yield %column : {{ into }}
  }
  return %factor : {{ into }}
}

// a[i][j] - sum of l[i][k] * conj(l[j][k]) for k < j
func.func @rest(%a: {{ from }}, %l: {{ into }}, %i: index, %j: index) -> {{ of }} {
  %element = tensor.extract %a[{{ at("%i", "%j") }}] : {{ from }}
  %rest = scf.for %k = %c0 to %j step %c1 iter_args(%difference = %element) -> ({{ of }}) {
    %left = tensor.extract %l[{{ at("%i", "%k") }}] : {{ into }}
    %right = tensor.extract %l[{{ at("%j", "%k") }}] : {{ into }}
{% if complex %}
    %turned = complex.conj %right : {{ of }}
{% endif %}
    %product = {{ mul }} %left, {{ "%turned" if complex else "%right" }} : {{ of }}
    %next = {{ sub }} %difference, %product : {{ of }}
    scf.yield %next : {{ of }}
  }
  return %rest : {{ of }}
}
