# Completion in bash for layout-opt and layout-lsp-server. Options are those that the tool's own help names.

# The options that the help on standard input lists below a flag; of one that ends with `=`, its values.
_layout_options() {
  awk -v flag="$1" -v option="${2%%=*}" -v values="$2" '
    { indent = match($0, /[^ ]/) }
    $1 == flag { own = indent; inside = 1; next }
    inside && indent <= own && $1 !~ /^=/ { inside = 0 }
    !inside { next }
    $1 ~ /^--/ { current = substr($1, 3); sub(/=.*/, "", current) }
    values ~ /=/ && current == option && $1 ~ /^=/ { print substr($1, 2) }
    values !~ /=/ && $1 ~ /^--/ { print current }'
}

_layout_tools() {
  local tool=$1 word=$2 before=$3 help words line
  case $before in
    -o) compopt -o default; return ;;
  esac
  help=$("$tool" --help 2>/dev/null) || return
  # Bash splits words at `=`; a pass is followed by one or several of its options.
  line=${COMP_LINE:0:COMP_POINT}
  line=${line##*[[:space:]\'\"]}
  if [[ $line == --*=* ]]; then
    word=${line##*=}
    words=$(_layout_options "${line%%=*}" "${line#*=}" <<<"$help")
  elif [[ $word == -* ]]; then
    words=$(sed -nE 's/^ +//; s/^(-[a-zA-Z]), /\1\n/; /^-/p' <<<"$help" | sed -nE 's/^(-[-a-zA-Z0-9]+).*/\1/p')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
  ((${#COMPREPLY[@]})) || compopt -o default
}

complete -F _layout_tools layout-opt layout-lsp-server
