func.func @{{ name }}{{ signature }} {
  %s = memref.subview %a0{{ from.starts }} {{ sizes }} {{ from.steps }} : {{ a0 }} to {{ from.type }}
  %d = memref.subview %a2{{ to.starts }} {{ sizes }} {{ to.steps }} : {{ a2 }} to {{ to.type }}
  memref.copy %s, %a1 : {{ from.type }} to {{ a1 }}
  memref.copy %a1, %d : {{ a1 }} to {{ to.type }}
  return
}
