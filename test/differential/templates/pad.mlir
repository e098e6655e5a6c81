{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %c = arith.constant {{ literal(7, t) }} : {{ t }}
  %r = tensor.pad %a0 low{{ low }} high{{ high }} {
  ^bb0({% for n in low %}%j{{ loop.index0 }}: index{{ ", " if not loop.last }}{% endfor %}):
    tensor.yield %c : {{ t }}
  } : {{ a0 }} to {{ r }}
  return %r : {{ r }}
}
