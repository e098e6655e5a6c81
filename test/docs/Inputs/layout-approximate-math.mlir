// layout-opt --layout-approximate-math
func.func @ratio(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.tanh %x fastmath<afn> : vector<8xf32>
  return %0 : vector<8xf32>
}
