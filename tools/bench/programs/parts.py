"""What several sets of programs share."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

# The orders of dimensions of images or sequences, and the order of the kernel that goes with each.
KERNELS = {"NWC": "WIO", "NHWC": "HWIO", "NDHWC": "DHWIO", "NCW": "OIW", "NCHW": "OIHW"}


def array(*sizes: int, of: Any = jnp.float32) -> Any:
    """The shape of an argument."""
    return jax.ShapeDtypeStruct(sizes, of)


def conv(x, w, stride=1, padding="SAME", groups=1, dilation=1, order=None):
    """A convolution, in the order of dimensions whose features are last if none is given."""
    order = order or {3: "NWC", 4: "NHWC", 5: "NDHWC"}[x.ndim]
    n = x.ndim - 2
    return lax.conv_general_dilated(
        x,
        w,
        (stride,) * n,
        padding,
        dimension_numbers=(order, KERNELS[order], order),
        feature_group_count=groups,
        rhs_dilation=(dilation,) * n,
    )
