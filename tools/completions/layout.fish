# Completion in fish for layout-opt and layout-lsp-server. Options are those that the tool's own help names.

function __layout_options
    $argv[1] --help 2>/dev/null | sed -nE 's/^ +//; s/^(-[a-zA-Z]), /\1\n/; /^-/p' | sed -nE 's/^(-[-a-zA-Z0-9]+).*/\1/p'
end

for tool in layout-opt layout-lsp-server
    complete -c $tool -n 'string match -q -- "-*" (commandline -ct)' -a "(__layout_options $tool)"
end
complete -c layout-opt -s o -r -F
