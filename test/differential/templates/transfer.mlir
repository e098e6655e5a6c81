{% set t = a0.element %}
{% set mask = ", %m" if masked else "" %}
{% set attributes = "{in_bounds = [" ~ in_bounds | join(", ") ~ "], permutation_map = " ~ map(rank, along) ~ "}" %}
{% set vector = "vector<" ~ lengths | join("x") ~ "x" ~ t ~ ">" %}
func.func @{{ name }}{{ signature }} {
{% for n in counts %}
  %m{{ loop.index0 }} = arith.constant {{ n }} : index
{% endfor %}
  %m = vector.create_mask {% for n in counts %}%m{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %} : vector<{{ lengths | join("x") }}xi1>
  %p = arith.constant {{ literal(5, t) }} : {{ t }}
  %v = vector.transfer_read %a0[{{ index | join(", ") }}], %p{{ mask }} {{ attributes }} : {{ a0 }}, {{ vector }}
  %w = {{ arith("add", t) }} %v, %v : {{ vector }}
  vector.transfer_write %w, %a1[{{ index | join(", ") }}]{{ mask }} {{ attributes }} : {{ vector }}, {{ a1 }}
  return
}
