// One stage of a Fourier transform in place along the last dimension: the real and the imaginary parts of each two
// transforms of `half` elements become one of `whole` elements. `coefficients` has the roots of one as arguments.
{% set types = [array, array] %}
{% set outer = bounds[:-1] + ["%c1"] %}
{% macro at(k) %}{% for b in bounds[:-1] %}%i{{ loop.index0 }}, {% endfor %}{{ k }}{% endmacro %}

func.func @main(%stage: index, {% if coefficients %}%roots_re: {{ coefficients }}, %roots_im: {{ coefficients }}, {% endif %}
%begin0: {{ array }}, %begin1: {{ array }}) -> ({{ types | join(", ") }}) {
{% for line in prologue %}
  {{ line }}
{% endfor %}
  %wide = arith.shli %c1, %stage : index
  %whole = arith.maxui %wide, %c1 : index
  %half = arith.shrui %whole, %c1 : index
  %count = arith.divui {{ bounds[-1] }}, %whole : index
  %end = arith.muli %count, %whole : index
{% if not coefficients %}
  %number = arith.index_cast %whole : index to i64
  %float = arith.sitofp %number : i64 to f64
  %turn = arith.constant -6.283185307179586 : f64
  %step = arith.divf %turn, %float : f64
{% endif %}
{{ open("i", outer, "%begin$", types) -}}
    %next0, %next1 = scf.for %block = %c0 to %end step %whole iter_args(
        %re = %i_in0, %im = %i_in1) -> ({{ types | join(", ") }}) {
      %done_re, %done_im = scf.for %k = %c0 to %half step %c1 iter_args(
          %re0 = %re, %im0 = %im) -> ({{ types | join(", ") }}) {
        %low = arith.addi %block, %k : index
        %high = arith.addi %low, %half : index
        %a_re = tensor.extract %re0[{{ at("%low") }}] : {{ array }}
        %a_im = tensor.extract %im0[{{ at("%low") }}] : {{ array }}
        %b_re = tensor.extract %re0[{{ at("%high") }}] : {{ array }}
        %b_im = tensor.extract %im0[{{ at("%high") }}] : {{ array }}
{% if coefficients %}
        %w_re = tensor.extract %roots_re[%k] : {{ coefficients }}
        %w_im = tensor.extract %roots_im[%k] : {{ coefficients }}
{% else %}
        %k_number = arith.index_cast %k : index to i64
        %k_float = arith.sitofp %k_number : i64 to f64
        %angle = arith.mulf %k_float, %step : f64
{% set cos, sin = ("%w_re", "%w_im") if element == "f64" else ("%cos", "%sin") %}
        {{ cos }} = math.cos %angle : f64
        {{ sin }} = math.sin %angle : f64
{% if element != "f64" %}
        %w_re = arith.truncf %cos : f64 to {{ element }}
        %w_im = arith.truncf %sin : f64 to {{ element }}
{% endif %}
{% endif %}
        %rr = arith.mulf %w_re, %b_re : {{ element }}
        %ii = arith.mulf %w_im, %b_im : {{ element }}
        %t_re = arith.subf %rr, %ii : {{ element }}
        %ri = arith.mulf %w_re, %b_im : {{ element }}
        %ir = arith.mulf %w_im, %b_re : {{ element }}
        %t_im = arith.addf %ri, %ir : {{ element }}
        %low_re = arith.addf %a_re, %t_re : {{ element }}
        %low_im = arith.addf %a_im, %t_im : {{ element }}
        %high_re = arith.subf %a_re, %t_re : {{ element }}
        %high_im = arith.subf %a_im, %t_im : {{ element }}
        %re1 = tensor.insert %low_re into %re0[{{ at("%low") }}] : {{ array }}
        %im1 = tensor.insert %low_im into %im0[{{ at("%low") }}] : {{ array }}
        %re2 = tensor.insert %high_re into %re1[{{ at("%high") }}] : {{ array }}
        %im2 = tensor.insert %high_im into %im1[{{ at("%high") }}] : {{ array }}
        scf.yield %re2, %im2 : {{ types | join(", ") }}
      }
      scf.yield %done_re, %done_im : {{ types | join(", ") }}
    }
{{ close("i", outer, "%next$", types) -}}
  return %i_out0, %i_out1 : {{ types | join(", ") }}
}
