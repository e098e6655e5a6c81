# Lowers a file to vector code in both forms, to PREFIX (strided) and PREFIX.physical: both-forms.sh FILE PREFIX.
#
# Fails where the code has a division, a minimum, a condition or a prefetch in it, where the two forms have different code
# on views of their buffers, or where there are vectors although none are requested.
set -euo pipefail
file=$1 prefix=$2
layout-opt "$file" --split-input-file --layout-lower-memrefs='vectorize=avx512' > "$prefix"
layout-opt "$file" --split-input-file --layout-lower-memrefs='vectorize=avx512 form=physical' > "$prefix.physical"
not grep -E 'floordiv|ceildiv| mod |min[^u]|affine.if|scf.if|prefetch' "$prefix"
for form in "$prefix" "$prefix.physical"; do
  sed 's/: memref.* to memref/: to memref/; s/%arg0: .*//' "$form" > "$form.views"
done
cmp "$prefix.views" "$prefix.physical.views"
layout-opt "$file" --split-input-file --layout-lower-memrefs > "$prefix.none"
not grep vector "$prefix.none"
