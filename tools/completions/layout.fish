# Completion in fish. Options and commands are those that the tool's own help names.

function __layout_options
    $argv[1] --help 2>/dev/null | sed -nE 's/^ +//; s/^(-[a-zA-Z]), /\1\n/; /^-/p' | sed -nE 's/^(-[-a-zA-Z0-9]+).*/\1/p'
end

function __layout_commands
    $argv[1] --help 2>/dev/null | sed -nE "s/^(Usage:)? +$argv[1] ([a-z]+)( .*|\$)/\2/p"
end

for tool in layout-opt layout-lsp-server layout-inspect layout-translate
    complete -c $tool -n 'string match -q -- "-*" (commandline -ct)' -a "(__layout_options $tool)"
end
complete -c layout-inspect -n 'test (count (commandline -opc)) -eq 1' -a '(__layout_commands layout-inspect)'
complete -c layout-opt -s o -r -F
complete -c layout-translate -s o -r -F
complete -c layout-inspect -l svg -r -F
