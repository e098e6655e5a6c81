// Sorts all lines of arrays along dimension `dim` by `@main`, a sort of one line. An element of the second run comes first
// where it is less: a comparison that holds for equal elements, too, keeps their order as well.
// `@compare` takes the two elements of the first `compared` arrays, in pairs. With `by_index` the second array has indices,
// the lower of which comes first among equal elements.
{% set wholes, lines = arrays | map(attribute="whole") | list, arrays | map(attribute="line") | list %}
{% set elements, n = arrays | map(attribute="element") | list, arrays | length %}
{% macro pairs(a, b) %}{% for k in range(compared) %}{{ ", " if k }}{{ a }}{{ k }}, {{ b }}{{ k }}{% endfor %}{% endmacro %}
{% macro pair_types() %}{% for k in range(compared) %}{{ ", " if k }}{{ elements[k] }}, {{ elements[k] }}{% endfor %}{% endmacro %}
{% set types = wholes + lines + lines %}

func.func private @compare({{ pair_types() }}) -> i1

func.func @before({% for t in elements %}%x{{ loop.index0 }}: {{ t }}, {% endfor %}
{% for t in elements %}%y{{ loop.index0 }}: {{ t }}{{ ", " if not loop.last }}{% endfor %}) -> i1 {
  %less = func.call @compare({{ pairs("%y", "%x") }}) : ({{ pair_types() }}) -> i1
  %greater = func.call @compare({{ pairs("%x", "%y") }}) : ({{ pair_types() }}) -> i1
  %true = arith.constant true
  %not_greater = arith.xori %greater, %true : i1
  %only_less = arith.andi %less, %not_greater : i1
{% if by_index %}
  %equal = arith.cmpi eq, %less, %greater : i1
  %lower = arith.cmpi {{ "ult" if elements[1] == "index" else "slt" }}, %y1, %x1 : {{ elements[1] }}
  %first = arith.andi %equal, %lower : i1
  %wanted = arith.ori %only_less, %first : i1
{% endif %}
  return {{ "%wanted" if by_index else "%only_less" }} : i1
}

func.func @lines({% for t in wholes %}%begin{{ loop.index0 }}: {{ t }}{{ ", " if not loop.last }}{% endfor %}) -> ({{ wholes | join(", ") }}) {
{% for line in prologue %}
  {{ line }}
{% endfor %}
{% for line in lines %}
  %begin{{ n + loop.index0 }} = tensor.empty({{ length if is_dynamic }}) : {{ line }}
  %begin{{ 2 * n + loop.index0 }} = tensor.empty({{ length if is_dynamic }}) : {{ line }}
{% endfor %}
{% if is_dynamic %}
  // Four to the power of the rounds is at least the length.
  %last = arith.subi {{ length }}, %c1 : index
  %number = arith.index_cast %last : index to i64
  %zeros = math.ctlz %number : i64
  %digits = arith.subi %c65_i64, %zeros : i64
  %halves = arith.shrui %digits, %c1_i64 : i64
  %all_rounds = arith.index_cast %halves : i64 to index
  %some = arith.cmpi ugt, {{ length }}, %c1 : index
  %rounds = arith.select %some, %all_rounds, %c0 : index
{% endif %}
{% set nest = bounds[:dim] + ["%c1"] + bounds[dim + 1:] %}
{{ open("i", nest, "%begin$", types) -}}
    {{ each("%next$", 3 * n) }} = func.call @main({{ length }}, {{ rounds }}, {{ arguments | join(", ") }}{{ ", " if arguments }}{{ each("%i_in$", 3 * n) }}) : (index, index, {{ "index, " * (arguments | length) }}{{ types | join(", ") }}) -> ({{ types | join(", ") }})
{{ close("i", nest, "%next$", types) -}}
  return {{ each("%i_out$", n) }} : {{ wholes | join(", ") }}
}
