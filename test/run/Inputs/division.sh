# Makes the module of a type: division.sh BITS si|ui > MODULE.
set -euo pipefail
bits=$1 kind=$2
declare -A least=([8]=-128 [16]=-32768 [32]=-2147483648 [64]=-9223372036854775808)
declare -A floor=([si]=floordivsi [ui]=divui) signed=([si]=true [ui]=false)
here=$(dirname "$0")
while read -r name layout number; do
  if [ "$number" = array ]; then divisor="y/memref<11x70xTYPE, #layout.tiled<LAYOUT>>/all/0"; else divisor="number/TYPE/none/$number"; fi
  IFS=/ read -r value type map number <<< "$divisor"
  sed "s/%DIVISOR/%$value/; s/DIVTYPE/$type/; s/DIVISORS_NAME/${map}_NAME/; s/NUMBER/$number/; s/LAYOUT/$layout/g; s/NAME/$name/g
       s/LEAST/${least[$bits]}/; s/SIGNED/${signed[$kind]}/; s/FLOOR/${floor[$kind]}/; s/KIND/$kind/; s/TYPE/i$bits/g" "$here/division.mlir"
done <<'CASES'
plain {1,0} array
tiles {1,0:T(8,128)} array
columns {0,1} array
one {1,0} 1
seven {1,0:T(8,128)} 7
ones {0,1} -1
none {1,0} 0
most {1,0:T(8,128)} 127
CASES
