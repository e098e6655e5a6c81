{# The text `count` times, with the number in the place of $. #}
{% macro each(text, count) %}{% for k in range(count) %}{{ ", " if k }}{{ text | replace("$", k) }}{% endfor %}{% endmacro %}
{# Opens a loop for each bound, outermost first. The indices are %NAME0, %NAME1 .., and the values that the innermost
   loop carries %NAME_in0, %NAME_in1 ..; `begin` are their names before the nest. #}
{% macro open(name, bounds, begin, types) %}
{% for bound in bounds %}
{% set inner, outer = "%" ~ name ~ ("_in$" if loop.last else loop.index0 ~ "_in$"), "%" ~ name ~ (loop.index0 - 1) ~ "_in$" %}
{% set before = begin if loop.first else outer %}
{% set after = "%" ~ name ~ ("_out$" if loop.first else loop.index0 ~ "_out$") %}
  {{ each(after, types | length) }} = scf.for %{{ name }}{{ loop.index0 }} = %c0 to {{ bound }} step %c1 iter_args(
      {{ each(inner ~ " = " ~ before, types | length) }}) -> ({{ types | join(", ") }}) {
{% endfor %}
{% endmacro %}
{# Closes the loops; the values after the nest are %NAME_out0, %NAME_out1 .. #}
{% macro close(name, bounds, next, types) %}
{% for bound in bounds %}
{% set inner = "%" ~ name ~ (bounds | length - loop.index0) ~ "_out$" %}
    scf.yield {{ each(next if loop.first else inner, types | length) }} : {{ types | join(", ") }}
  }
{% endfor %}
{% endmacro %}
