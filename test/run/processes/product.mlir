#machine = #layout.machine<axes: (4_Process)>
