# Completion in bash for layout-opt, layout-lsp-server, layout-inspect and layout-translate. Options and commands are
# those that the tool's own help names.

_layout_tools() {
  local tool=$1 word=$2 before=$3 help words
  case $before in
    -o | --svg) compopt -o default; return ;;
  esac
  help=$("$tool" --help 2>/dev/null) || return
  if [[ $word == -* ]]; then
    words=$(sed -nE 's/^ +//; s/^(-[a-zA-Z]), /\1\n/; /^-/p' <<<"$help" | sed -nE 's/^(-[-a-zA-Z0-9]+).*/\1/p')
  elif ((COMP_CWORD == 1)); then
    words=$(sed -nE "s/^(Usage:)? +${tool##*/} ([a-z]+)( .*|$)/\2/p" <<<"$help")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
  ((${#COMPREPLY[@]})) || compopt -o default
}

complete -F _layout_tools layout-opt layout-lsp-server layout-inspect layout-translate
