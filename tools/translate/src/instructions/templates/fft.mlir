// The transform of a line, in n * log2(n) steps, by the factors 2, 3, 5 and 7 of its length: the line in the order of
// reversed digits, then transforms of 1 element combined in place to ones of 2, 4, .. elements. For another length n
// the sum of x[j] * u^(j k) with u = exp(-2 pi i / n) is a convolution, as 2 j k = j^2 + k^2 - (k - j)^2 (Bluestein):
// with c[k] = exp(-pi i k^2 / n), X[k] = c[k] * sum over j of (x[j] * c[j]) * conj(c[k - j]). The sum takes two
// transforms of a power of two of at least 2 n - 1 elements, and one of conj(c) for all lines.
// The inverse has the conjugates of u and c, and is over n.
{% set bluestein = long != n %}
{% set turn = 6.283185307179586 if inverse else -6.283185307179586 %}
{% set line = "tensor<" ~ long ~ "x" ~ of ~ ">" %}
{% set chirp = "tensor<" ~ n ~ "x" ~ of ~ ">" %}
{% set places = "tensor<" ~ long ~ "xi64>" %}
{% set tables = line ~ ", " ~ places ~ ", " ~ chirp ~ ", " ~ line %}
{% set butterflies = "(" ~ line ~ ", " ~ line ~ ", " ~ line ~ ", " ~ places ~ ") -> " ~ line %}
{% set combine = "(" ~ line ~ ", index, index, " ~ line ~ ") -> " ~ line %}
{% macro at(k) %}{{ (outer[:dim] + [k] + outer[dim + 1:]) | join(", ") }}{% endmacro %}

// The roots exp(-2 pi i k / long), the indices of the elements in reversed order, c, and the transform of conj(c).
func.func @tables() -> ({{ tables }}) {
  %step = arith.constant {{ turn / long }} : f64
  %no_roots = tensor.empty() : {{ line }}
  %roots = scf.for %k = %c0 to %c{{ long }} step %c1 iter_args(%into = %no_roots) -> ({{ line }}) {
    %number = arith.index_cast %k : index to i64
    %root = func.call @unit(%number, %step) : (i64, f64) -> {{ of }}
    %next = tensor.insert %root into %into[%k] : {{ line }}
    scf.yield %next : {{ line }}
  }
  %no_places = tensor.empty() : {{ places }}
  %places = scf.for %k = %c0 to %c{{ long }} step %c1 iter_args(%into = %no_places) -> ({{ places }}) {
    %reversed = func.call @reversed(%k) : (index) -> index
    %place = arith.index_cast %reversed : index to i64
    %next = tensor.insert %place into %into[%k] : {{ places }}
    scf.yield %next : {{ places }}
  }
{% if bluestein %}
  %chirp_step = arith.constant {{ turn / 2 / n }} : f64
  %no_chirp = tensor.empty() : {{ chirp }}
  %chirp = scf.for %k = %c0 to %c{{ n }} step %c1 iter_args(%into = %no_chirp) -> ({{ chirp }}) {
    // k * k modulo 2 n keeps the angle exact.
    %number = arith.index_cast %k : index to i64
    %square = arith.muli %number, %number : i64
    %rest = arith.remui %square, %c{{ 2 * n }}_i64 : i64
    %element = func.call @unit(%rest, %chirp_step) : (i64, f64) -> {{ of }}
    %next = tensor.insert %element into %into[%k] : {{ chirp }}
    scf.yield %next : {{ chirp }}
  }
  // Extended to both sides: element long - k is element k.
  %zero = complex.constant [0.0 : {{ part }}, 0.0 : {{ part }}] : {{ of }}
  %empty = tensor.empty() : {{ line }}
  %both = scf.for %k = %c0 to %c{{ long }} step %c1 iter_args(%into = %empty) -> ({{ line }}) {
    %back = arith.subi %c{{ long }}, %k : index
    %distance = arith.minui %k, %back : index
    %inside = arith.cmpi ule, %distance, %c{{ n - 1 }} : index
    %place = arith.minui %distance, %c{{ n - 1 }} : index
    %element = tensor.extract %chirp[%place] : {{ chirp }}
    %conjugate = complex.conj %element : {{ of }}
    %value = arith.select %inside, %conjugate, %zero : {{ of }}
    %next = tensor.insert %value into %into[%k] : {{ line }}
    scf.yield %next : {{ line }}
  }
  %no_spectrum = tensor.empty() : {{ line }}
  %spectrum = func.call @butterflies(%both, %no_spectrum, %roots, %places) : {{ butterflies }}
{% endif %}
  return %roots, %places, {{ "%chirp, %spectrum" if bluestein else "%roots, %roots" }} : {{ tables }}
}

// The complex number of magnitude 1 with the angle number * step.
func.func @unit(%number: i64, %step: f64) -> {{ of }} {
  %float = arith.sitofp %number : i64 to f64
  %angle = arith.mulf %float, %step : f64
  %cos = math.cos %angle : f64
  %sin = math.sin %angle : f64
{% if part == "f32" %}
  %re = arith.truncf %cos : f64 to f32
  %im = arith.truncf %sin : f64 to f32
{% endif %}
  %unit = complex.create {{ "%re, %im" if part == "f32" else "%cos, %sin" }} : {{ of }}
  return %unit : {{ of }}
}

// The number with its digits reversed: those of base 2 first, then 3, 5 and 7.
func.func @reversed(%number0: index) -> index {
  %reversed0 = arith.constant 0 : index
{% for f in factors %}
{% set k, next = loop.index0, loop.index %}
  %number{{ next }}, %reversed{{ next }} = scf.for %round = %c0 to %c{{ f.rounds }} step %c1 iter_args(
      %number = %number{{ k }}, %reversed = %reversed{{ k }}) -> (index, index) {
    %rest = arith.divui %number, %c{{ f.base }} : index
    %digit = arith.remui %number, %c{{ f.base }} : index
    %moved = arith.muli %reversed, %c{{ f.base }} : index
    %next = arith.addi %moved, %digit : index
    scf.yield %rest, %next : index, index
  }
{% endfor %}
  return %reversed{{ factors | length }} : index
}

// The result of a line in the target, and the two lines of scratch.
func.func @main(%source: {{ source }}, %roots: {{ line }}, %places: {{ places }}, %chirp: {{ chirp }},
    %spectrum: {{ line }}, %target: {{ target }}, %a: {{ line }}, %b: {{ line }})
    -> ({{ target }}, {{ line }}, {{ line }}) {
{% if bluestein %}
  %zero = complex.constant [0.0 : {{ part }}, 0.0 : {{ part }}] : {{ of }}
  %filled = linalg.fill ins(%zero : {{ of }}) outs(%a : {{ line }}) -> {{ line }}
{% endif %}
{% set begin = "%filled" if bluestein else "%a" %}
  %begun = scf.for %k = %c0 to %c{{ n }} step %c1 iter_args(%into = {{ begin }}) -> ({{ line }}) {
    %x = func.call @element(%source, %k) : ({{ source }}, index) -> {{ of }}
{% if bluestein %}
    %factor = tensor.extract %chirp[%k] : {{ chirp }}
    %xc = complex.mul %x, %factor : {{ of }}
{% endif %}
    %next = tensor.insert {{ "%xc" if bluestein else "%x" }} into %into[%k] : {{ line }}
    scf.yield %next : {{ line }}
  }
{% if bluestein %}
  %factors = func.call @butterflies(%begun, %b, %roots, %places) : {{ butterflies }}
  // The inverse transform of the product: the transform of its conjugate, conjugated.
  %product = scf.for %k = %c0 to %c{{ long }} step %c1 iter_args(%into = %begun) -> ({{ line }}) {
    %x = tensor.extract %factors[%k] : {{ line }}
    %y = tensor.extract %spectrum[%k] : {{ line }}
    %xy = complex.mul %x, %y : {{ of }}
    %conjugate = complex.conj %xy : {{ of }}
    %next = tensor.insert %conjugate into %into[%k] : {{ line }}
    scf.yield %next : {{ line }}
  }
{% endif %}
{% set from, to = ("%product", "%factors") if bluestein else ("%begun", "%b") %}
  %done = func.call @butterflies({{ from }}, {{ to }}, %roots, %places) : {{ butterflies }}
  %result = scf.for %k = %c0 to %c{{ length }} step %c1 iter_args(%into = %target) -> ({{ target }}) {
    %x = tensor.extract %done[%k] : {{ line }}
{% if bluestein %}
    %factor = tensor.extract %chirp[%k] : {{ chirp }}
    %conjugate = complex.conj %x : {{ of }}
    %sum = complex.mul %conjugate, %factor : {{ of }}
    %share = complex.constant [{{ 1 / long }} : {{ part }}, 0.0 : {{ part }}] : {{ of }}
    %y = complex.mul %sum, %share : {{ of }}
{% endif %}
{% set y = "%y" if bluestein else "%x" %}
{% if inverse %}
    %scale = complex.constant [{{ 1 / n }} : {{ part }}, 0.0 : {{ part }}] : {{ of }}
    %scaled = complex.mul {{ y }}, %scale : {{ of }}
{% endif %}
{% set z = "%scaled" if inverse else y %}
{% if to_real %}
    %real = complex.re {{ z }} : {{ of }}
{% endif %}
    %next = tensor.insert {{ "%real" if to_real else z }} into %into[{{ at("%k") }}] : {{ target }}
    scf.yield %next : {{ target }}
  }
  return %result, {{ from }}, %done : {{ target }}, {{ line }}, {{ line }}
}

func.func @element(%source: {{ source }}, %k: index) -> {{ of }} {
{% if to_real %}
  // The second half is the first one backwards, conjugated.
  %mirrored = arith.subi %c{{ n }}, %k : index
  %is_first = arith.cmpi ule, %k, %c{{ n // 2 }} : index
  %place = arith.select %is_first, %k, %mirrored : index
{% endif %}
  %element = tensor.extract %source[{{ at("%place" if to_real else "%k") }}] : {{ source }}
{% if to_real %}
  %conjugate = complex.conj %element : {{ of }}
  %x = arith.select %is_first, %element, %conjugate : {{ of }}
{% elif from_real %}
  %zero = arith.constant 0.0 : {{ part }}
  %x = complex.create %element, %zero : {{ of }}
{% endif %}
  return {{ "%x" if to_real or from_real else "%element" }} : {{ of }}
}

// The transform of a line of `long` elements, into another one.
func.func @butterflies(%from: {{ line }}, %to: {{ line }}, %roots: {{ line }}, %places: {{ places }}) -> {{ line }} {
  %line0 = scf.for %k = %c0 to %c{{ long }} step %c1 iter_args(%into = %to) -> ({{ line }}) {
    %number = tensor.extract %places[%k] : {{ places }}
    %place = arith.index_cast %number : i64 to index
    %element = tensor.extract %from[%place] : {{ line }}
    %next = tensor.insert %element into %into[%k] : {{ line }}
    scf.yield %next : {{ line }}
  }
  %size0 = arith.constant 1 : index
{% for f in factors %}
{% set k, next = loop.index0, loop.index %}
  %line{{ next }}, %size{{ next }} = scf.for %round = %c0 to %c{{ f.rounds }} step %c1 iter_args(
      %line = %line{{ k }}, %size = %size{{ k }}) -> ({{ line }}, index) {
    %whole = arith.muli %size, %c{{ f.base }} : index
    %next = func.call @combine{{ f.base }}(%line, %size, %whole, %roots) : {{ combine }}
    scf.yield %next, %whole : {{ line }}, index
  }
{% endfor %}
  return %line{{ factors | length }} : {{ line }}
}

{% for f in factors %}
{% set count = f.base %}
// Combines each {{ count }} transforms of `size` elements in place to one of all their elements.
func.func @combine{{ count }}(%line: {{ line }}, %size: index, %whole: index, %roots: {{ line }}) -> {{ line }} {
{% for k in range(1, count) %}
  %turn{{ k }} = tensor.extract %roots[%c{{ k * (long // count) }}] : {{ line }}
{% endfor %}
  %stride = arith.divui %c{{ long }}, %whole : index
  %combined = scf.for %block = %c0 to %c{{ long }} step %whole iter_args(%parts = %line) -> ({{ line }}) {
    %next = scf.for %k = %c0 to %size step %c1 iter_args(%line0 = %parts) -> ({{ line }}) {
      %number1 = arith.muli %k, %stride : index
      %at0 = arith.addi %block, %k : index
      %x0 = tensor.extract %line0[%at0] : {{ line }}
{% for q in range(1, count) %}
      %at{{ q }} = arith.addi %at{{ q - 1 }}, %size : index
      %y{{ q }} = tensor.extract %line0[%at{{ q }}] : {{ line }}
      %root{{ q }} = tensor.extract %roots[%number{{ q }}] : {{ line }}
      %x{{ q }} = complex.mul %y{{ q }}, %root{{ q }} : {{ of }}
      %number{{ q + 1 }} = arith.addi %number{{ q }}, %number1 : index
{% endfor %}
{% for j in range(count) %}
{% for q in range(1, count) %}
{% set before = "%sum" ~ j ~ "_" ~ (q - 1) if q > 1 else "%x0" %}
{% if j == 0 or count == 2 %}
      %sum{{ j }}_{{ q }} = complex.{{ "sub" if j else "add" }} {{ before }}, %x{{ q }} : {{ of }}
{% else %}
      %term{{ j }}_{{ q }} = complex.mul %x{{ q }}, %turn{{ q * j % count }} : {{ of }}
      %sum{{ j }}_{{ q }} = complex.add {{ before }}, %term{{ j }}_{{ q }} : {{ of }}
{% endif %}
{% endfor %}
      %line{{ j + 1 }} = tensor.insert %sum{{ j }}_{{ count - 1 }} into %line{{ j }}[%at{{ j }}] : {{ line }}
{% endfor %}
      scf.yield %line{{ count }} : {{ line }}
    }
    scf.yield %next : {{ line }}
  }
  return %combined : {{ line }}
}

{% endfor %}
