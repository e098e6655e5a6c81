{% from "macros.mlir" import generic, fill %}
{% set t = r.element %}
{% for s in steps if s.kind == "call" %}
{% set from = types[s.n] %}
{% set to = types[s.n + 1] %}
func.func private @{{ name }}_{{ s.n }}(%x: {{ to }}) -> {{ from }} {
  %y = {{ arith("add", t) }} %x, %x : {{ to }}
  %z = layout.convert %y : {{ to }} to {{ from }}
  return %z : {{ from }}
}
{% endfor %}
func.func @{{ name }}{{ signature }} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %chosen = arith.cmpi slt, %i1, %one : index
  %five = arith.constant {{ literal(5, t) }} : {{ t }}
{% for s in steps %}
{% set n = s.n %}
{% set v = "%v" ~ n if n else "%a0" %}
{% set w = "%v" ~ (n + 1) %}
{% set p = "%s" ~ n ~ "_" %}
{% set from = types[n] %}
{% set to = types[n + 1] %}
{% set part = parts[n] %}
{% set part2 = parts[n + 1] %}
{% if s.kind == "convert" %}
  {{ w }} = layout.convert {{ v }} : {{ from }} to {{ to }}
{% elif s.kind == "add" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}y = layout.convert %a1 : {{ a1 }} to {{ to }}
  {{ w }} = {{ arith("add", t) }} {{ p }}x, {{ p }}y : {{ to }}
{% elif s.kind == "generic" %}
  {{ p }}e = tensor.empty() : {{ to }}
  {{ w }} = {% call generic([operand(v, from, dims), operand("%a1", a1, dims)], operand(p ~ "e", to, dims), rank) %}
    %y = {{ arith("max", t) }} %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
{% elif s.kind == "fill" %}
{{ fill(p ~ "f", from, s.scalar) }}
  {{ p }}g = layout.convert {{ p }}f : {{ from }} to {{ to }}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}y = {{ arith("add", t) }} {{ v }}, {{ p }}f : {{ from }}
  {{ p }}z = layout.convert {{ p }}y : {{ from }} to {{ to }}
  {{ p }}u = {{ arith("add", t) }} {{ p }}g, {{ p }}x : {{ to }}
  {{ w }} = {{ arith("add", t) }} {{ p }}u, {{ p }}z : {{ to }}
{% elif s.kind == "constant" %}
  {{ p }}c = arith.constant dense<{{ literal(s.scalar, t) }}> : {{ from }}
  {{ p }}y = {{ arith("add", t) }} {{ v }}, {{ p }}c : {{ from }}
  {{ w }} = layout.convert {{ p }}y : {{ from }} to {{ to }}
{% elif s.kind == "slice" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}s = tensor.extract_slice {{ p }}x[{{ start }}] {{ part_sizes }} {{ ones }} : {{ to }} to {{ part }}
  {{ p }}c = layout.convert {{ p }}s : {{ part }} to {{ part2 }}
  {{ p }}y = layout.convert %a1 : {{ a1 }} to {{ to }}
  {{ w }} = tensor.insert_slice {{ p }}c into {{ p }}y[{{ first }}] {{ part_sizes }} {{ ones }} : {{ part2 }} into {{ to }}
{% elif s.kind == "overwrite" %}
  {{ p }}x = {{ arith("add", t) }} {{ v }}, {{ v }} : {{ from }}
  {{ p }}s = tensor.extract_slice {{ p }}x[{{ fixed_start }}] {{ part_sizes }} {{ ones }} : {{ from }} to {{ part }}
  {{ p }}y = tensor.insert %five into {{ p }}x[{{ zeros }}] : {{ from }}
  {{ p }}z = tensor.insert_slice {{ p }}s into {{ p }}y[{{ first }}] {{ part_sizes }} {{ ones }} : {{ part }} into {{ from }}
  {{ w }} = layout.convert {{ p }}z : {{ from }} to {{ to }}
{% elif s.kind == "row" %}
  {{ p }}x = {{ arith("add", t) }} {{ v }}, {{ v }} : {{ from }}
  {{ p }}s = tensor.extract_slice {{ p }}x[{{ last }}] {{ row_sizes }} {{ ones }} : {{ from }} to {{ rows[n] }}
  {{ p }}y = tensor.insert %five into {{ p }}x[{{ zeros }}] : {{ from }}
  {{ p }}e = tensor.empty() : {{ to }}
  {{ w }} = {% call generic([operand(p ~ "y", from, dims), operand(p ~ "s", rows[n], dims[1:])], operand(p ~ "e", to, dims), rank) %}
    %y = {{ arith("sub", t) }} %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
{% elif s.kind == "reshape" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}c = tensor.collapse_shape {{ p }}x [{{ dims }}] : {{ to }} into {{ flats[n] }}
  {{ p }}d = layout.convert {{ p }}c : {{ flats[n] }} to {{ flats[n + 1] }}
  {{ p }}e = {{ arith("add", t) }} {{ p }}d, {{ p }}d : {{ flats[n + 1] }}
  {{ p }}f = tensor.expand_shape {{ p }}e [{{ dims }}] output_shape {{ sizes }} : {{ flats[n + 1] }} into {{ from }}
  {{ w }} = layout.convert {{ p }}f : {{ from }} to {{ to }}
{% elif s.kind == "reshaped_late" %}
  {{ p }}x = {{ arith("add", t) }} {{ v }}, {{ v }} : {{ from }}
  {{ p }}c = tensor.collapse_shape {{ p }}x [{{ dims }}] : {{ from }} into {{ flats[n] }}
  {{ p }}y = tensor.insert %five into {{ p }}x[{{ zeros }}] : {{ from }}
  {{ p }}f = tensor.expand_shape {{ p }}c [{{ dims }}] output_shape {{ sizes }} : {{ flats[n] }} into {{ to }}
  {{ p }}z = layout.convert {{ p }}y : {{ from }} to {{ to }}
  {{ w }} = {{ arith("sub", t) }} {{ p }}z, {{ p }}f : {{ to }}
{% elif s.kind == "loop" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ w }} = scf.for %k = %zero to %two step %one iter_args(%c = {{ p }}x) -> ({{ to }}) {
    %d = layout.convert %c : {{ to }} to {{ from }}
    %g = layout.convert %a1 : {{ a1 }} to {{ from }}
    %e = {{ arith("sub", t) }} %g, %d : {{ from }}
    %f = layout.convert %e : {{ from }} to {{ to }}
    scf.yield %f : {{ to }}
  }
{% elif s.kind == "while" %}
  {{ p }}r:2 = scf.while (%c = {{ v }}, %k = %zero) : ({{ from }}, index) -> ({{ from }}, index) {
    %b = arith.cmpi slt, %k, %i1 : index
    scf.condition(%b) %c, %k : {{ from }}, index
  } do {
  ^bb0(%c: {{ from }}, %k: index):
    %d = layout.convert %c : {{ from }} to {{ to }}
    %e = {{ arith("add", t) }} %d, %d : {{ to }}
    %f = layout.convert %e : {{ to }} to {{ from }}
    %l = arith.addi %k, %one : index
    scf.yield %f, %l : {{ from }}, index
  }
  {{ w }} = layout.convert {{ p }}r#0 : {{ from }} to {{ to }}
{% elif s.kind == "branch" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ w }} = scf.if %chosen -> ({{ to }}) {
    %y = {{ arith("mul", t) }} {{ p }}x, {{ p }}x : {{ to }}
    scf.yield %y : {{ to }}
  } else {
    %y = layout.convert %a1 : {{ a1 }} to {{ to }}
    scf.yield %y : {{ to }}
  }
{% elif s.kind == "switch" %}
  {{ p }}s = tensor.extract_slice {{ v }}[{{ start }}] {{ part_sizes }} {{ ones }} : {{ from }} to {{ part }}
  {{ w }} = scf.index_switch %i1 -> {{ to }}
  case 0 {
    %y = layout.convert {{ v }} : {{ from }} to {{ to }}
    scf.yield %y : {{ to }}
  }
  default {
    %y = tensor.pad {{ p }}s low{{ low }} high{{ high }} {
    ^bb0({% for n in low %}%j{{ loop.index0 }}: index{{ ", " if not loop.last }}{% endfor %}):
      tensor.yield %five : {{ t }}
    } : {{ part }} to {{ to }}
    scf.yield %y : {{ to }}
  }
{% elif s.kind == "blocks" %}
  {{ p }}s = tensor.extract_slice {{ v }}[{{ start }}] {{ part_sizes }} {{ ones }} : {{ from }} to {{ part }}
  {{ w }} = scf.execute_region -> {{ to }} {
    cf.cond_br %chosen, ^bb1, ^bb2
  ^bb1:
    %x = layout.convert {{ v }} : {{ from }} to {{ to }}
    cf.br ^bb3(%x : {{ to }})
  ^bb2:
    %y = tensor.pad {{ p }}s low{{ low }} high{{ high }} {
    ^bb0({% for n in low %}%j{{ loop.index0 }}: index{{ ", " if not loop.last }}{% endfor %}):
      tensor.yield %five : {{ t }}
    } : {{ part }} to {{ to }}
    cf.br ^bb3(%y : {{ to }})
  ^bb3(%z: {{ to }}):
    scf.yield %z : {{ to }}
  }
{% elif s.kind == "pad" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}s = tensor.extract_slice {{ p }}x[{{ start }}] {{ part_sizes }} {{ ones }} : {{ to }} to {{ part }}
  {{ w }} = scf.if %chosen -> ({{ to }}) {
    %y = tensor.pad {{ p }}s low{{ low }} high{{ high }} {
    ^bb0({% for n in low %}%j{{ loop.index0 }}: index{{ ", " if not loop.last }}{% endfor %}):
{% if s.computed %}
      %b = arith.cmpi slt, %j0, %one : index
      %u = tensor.extract %a1[{% for n in low %}%j{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}] : {{ a1 }}
      %q = arith.select %b, %u, %five : {{ t }}
      tensor.yield %q : {{ t }}
{% else %}
      tensor.yield %five : {{ t }}
{% endif %}
    } : {{ part }} to {{ to }}
    scf.yield %y : {{ to }}
  } else {
    scf.yield {{ p }}x : {{ to }}
  }
{% elif s.kind == "call" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}y = func.call @{{ name }}_{{ n }}({{ p }}x) : ({{ to }}) -> {{ from }}
  {{ p }}z = func.call @{{ name }}_{{ n }}({{ p }}x) : ({{ to }}) -> {{ from }}
  {{ p }}u = {{ arith("add", t) }} {{ p }}y, {{ p }}z : {{ from }}
  {{ w }} = layout.convert {{ p }}u : {{ from }} to {{ to }}
{% elif s.kind == "gather" %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}e = tensor.empty() : {{ from }}
  {{ p }}g = {% call generic([], operand(p ~ "e", from, dims), rank) %}
{% for m in sizes %}
    %j{{ loop.index0 }} = linalg.index {{ loop.index0 }} : index
    %n{{ loop.index0 }} = arith.constant {{ m - 1 }} : index
    %k{{ loop.index0 }} = arith.subi %n{{ loop.index0 }}, %j{{ loop.index0 }} : index
{% endfor %}
    %y = tensor.extract {{ p }}x[{% for m in sizes %}%k{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}] : {{ to }}
    linalg.yield %y : {{ t }}
{% endcall %}
  {{ w }} = layout.convert {{ p }}g : {{ from }} to {{ to }}
{% elif s.kind == "concat" %}
{% if sizes[0] > cut %}
  {{ p }}x = layout.convert {{ v }} : {{ from }} to {{ to }}
  {{ p }}a = tensor.extract_slice {{ p }}x[{{ first }}] {{ part_sizes }} {{ ones }} : {{ to }} to {{ part }}
  {{ p }}b = tensor.extract_slice {{ p }}x[{{ last }}] {{ rest_sizes }} {{ ones }} : {{ to }} to {{ rests[n] }}
  {{ p }}c = tensor.concat dim(0) {{ p }}b, {{ p }}a : ({{ rests[n] }}, {{ part }}) -> {{ longer[n] }}
  {{ p }}d = tensor.extract_slice {{ p }}c[{{ first }}] {{ sizes }} {{ ones }} : {{ longer[n] }} to {{ from }}
  {{ w }} = layout.convert {{ p }}d : {{ from }} to {{ to }}
{% else %}
  {{ w }} = layout.convert {{ v }} : {{ from }} to {{ to }}
{% endif %}
{% endif %}
{% endfor %}
  return %v{{ steps | length }} : {{ r }}
}
