func.func @{{ name }}{{ signature }} {
  %c = {{ "memref.alloc" if heap else "memref.alloca" }}() : {{ c }}
  memref.copy %a0, %c : {{ a0 }} to {{ c }}
  linalg.add ins(%c, %a1 : {{ c }}, {{ a1 }}) outs(%c : {{ c }})
  %d = layout.convert %c : {{ c }} to {{ d }}
  memref.copy %d, %a1 : {{ d }} to {{ a1 }}
{% if heap %}
  memref.dealloc %c : {{ c }}
{% endif %}
  return
}
