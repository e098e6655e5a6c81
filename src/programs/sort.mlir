// A stable merge sort of one line of each array, in n * log2(n) steps. The line is copied into scratch. Runs of 1, 2, 4
// and more elements are merged from one scratch line into the other and back, two widths in each round, so the sorted
// line is always in the first. A width beyond the line merges as a copy. Elements past the length stay in place.
// `outer` is the position of the line, of which `arguments` are no values of the function around.
{% set wholes, lines, elements = (arrays | map(attribute="whole") | join(", "),
  arrays | map(attribute="line") | join(", "), arrays | map(attribute="element") | join(", ")) %}
{% set at_k = (outer[:dim] + ["%k"] + outer[dim + 1:]) | join(", ") %}
{% set merge = "(" ~ lines ~ ", " ~ lines ~ ", index, index) -> (" ~ lines ~ ")" %}
{# The text for each array, with its number in the place of $. #}
{% macro each(text, type=none) %}
{% for a in arrays %}
{{ ", " if not loop.first }}{{ text | replace("$", loop.index0) }}{{ ": " ~ a[type] if type }}
{%- endfor %}{% endmacro %}

func.func @main(%length: index, %rounds: index, {% for index in arguments %}{{ index }}: index, {% endfor %}{{ each("%whole$", "whole") }}, {{ each("%a$", "line") }}, {{ each("%b$", "line") }})
    -> ({{ wholes }}, {{ lines }}, {{ lines }}) {
  {{ each("%copied$") }} = scf.for %k = %c0 to %length step %c1 iter_args({{ each("%line$ = %a$") }}) -> ({{ lines }}) {
{% for a in arrays %}
    %x{{ loop.index0 }} = tensor.extract %whole{{ loop.index0 }}[{{ at_k }}] : {{ a.whole }}
    %next{{ loop.index0 }} = tensor.insert %x{{ loop.index0 }} into %line{{ loop.index0 }}[%k] : {{ a.line }}
{% endfor %}
    scf.yield {{ each("%next$") }} : {{ lines }}
  }
  {{ each("%first$") }}, {{ each("%second$") }} = scf.for %round = %c0 to %rounds step %c1 iter_args(
      {{ each("%line$ = %copied$") }}, {{ each("%other$ = %b$") }}) -> ({{ lines }}, {{ lines }}) {
    %shift = arith.muli %round, %c2 : index
    %width = arith.shli %c1, %shift : index
    {{ each("%to$") }} = func.call @merge({{ each("%line$") }}, {{ each("%other$") }}, %length, %width) : {{ merge }}
    %double = arith.muli %width, %c2 : index
    {{ each("%back$") }} = func.call @merge({{ each("%to$") }}, {{ each("%line$") }}, %length, %double) : {{ merge }}
    scf.yield {{ each("%back$") }}, {{ each("%to$") }} : {{ lines }}, {{ lines }}
  }
  {{ each("%done$") }} = scf.for %k = %c0 to %length step %c1 iter_args({{ each("%into$ = %whole$") }}) -> ({{ wholes }}) {
{% for a in arrays %}
    %x{{ loop.index0 }} = tensor.extract %first{{ loop.index0 }}[%k] : {{ a.line }}
    %next{{ loop.index0 }} = tensor.insert %x{{ loop.index0 }} into %into{{ loop.index0 }}[{{ at_k }}] : {{ a.whole }}
{% endfor %}
    scf.yield {{ each("%next$") }} : {{ wholes }}
  }
  return {{ each("%done$") }}, {{ each("%first$") }}, {{ each("%second$") }} : {{ wholes }}, {{ lines }}, {{ lines }}
}

// Merges each two runs of `width` elements of one line into a run of the other line.
func.func @merge({{ each("%from$", "line") }}, {{ each("%to$", "line") }}, %length: index, %width: index)
    -> ({{ lines }}) {
  %last = arith.subi %length, %c1 : index
  %step = arith.addi %width, %width : index
  {{ each("%all$") }} = scf.for %low = %c0 to %length step %step iter_args({{ each("%runs$ = %to$") }}) -> ({{ lines }}) {
    %left_end = arith.addi %low, %width : index
    %middle = arith.minui %left_end, %length : index
    %right_end = arith.addi %low, %step : index
    %high = arith.minui %right_end, %length : index
    // `left` and `right` are the next elements of the two runs.
    %left_done, %right_done, {{ each("%run$") }} = scf.for %k = %low to %high step %c1 iter_args(
        %left = %low, %right = %middle, {{ each("%line$ = %runs$") }}) -> (index, index, {{ lines }}) {
      %at_left = arith.minui %left, %last : index
      %at_right = arith.minui %right, %last : index
{% for a in arrays %}
      %x{{ loop.index0 }} = tensor.extract %from{{ loop.index0 }}[%at_left] : {{ a.line }}
      %y{{ loop.index0 }} = tensor.extract %from{{ loop.index0 }}[%at_right] : {{ a.line }}
{% endfor %}
      %before = func.call @before({{ each("%x$") }}, {{ each("%y$") }}) : ({{ elements }}, {{ elements }}) -> i1
      %left_ended = arith.cmpi uge, %left, %middle : index
      %wanted = arith.ori %left_ended, %before : i1
      %right_remains = arith.cmpi ult, %right, %high : index
      %take_right = arith.andi %right_remains, %wanted : i1
      %after_left = arith.addi %left, %c1 : index
      %after_right = arith.addi %right, %c1 : index
      %next_left = arith.select %take_right, %left, %after_left : index
      %next_right = arith.select %take_right, %after_right, %right : index
{% for a in arrays %}
      %z{{ loop.index0 }} = arith.select %take_right, %y{{ loop.index0 }}, %x{{ loop.index0 }} : {{ a.element }}
      %next{{ loop.index0 }} = tensor.insert %z{{ loop.index0 }} into %line{{ loop.index0 }}[%k] : {{ a.line }}
{% endfor %}
      scf.yield %next_left, %next_right, {{ each("%next$") }} : index, index, {{ lines }}
    }
    scf.yield {{ each("%run$") }} : {{ lines }}
  }
  return {{ each("%all$") }} : {{ lines }}
}
