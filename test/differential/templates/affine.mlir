{% set t = a0.element %}
func.func @{{ name }}{{ signature }} {
{% for n in extents %}
  affine.for %j{{ loop.index0 }} = 0 to {{ n }} {
{% endfor %}
  %x = affine.load %a0[{% for n in offsets %}%j{{ loop.index0 }} + {{ n }}{{ ", " if not loop.last }}{% endfor %}] : {{ a0 }}
  %y = affine.load %a1[{% for n in offsets %}%j{{ loop.index0 }}{{ " + symbol(%i0)" if loop.index0 == unknown }}{{ ", " if not loop.last }}{% endfor %}] : {{ a1 }}
  %z = {{ arith("add", t) }} %x, %y : {{ t }}
  affine.store %z, %a1[{% for n in extents %}{{ n - 1 }} - %j{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}] : {{ a1 }}
{% for n in extents %}
  }
{% endfor %}
  return
}
