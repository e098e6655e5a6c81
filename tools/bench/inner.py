"""Hands XLA the layouts of values inside of a JAX function.

A function is traced, and its equations are computed one after the other, each in a scope of its number: the metadata of HLO
then say which instructions an equation has become. A value of an equation gets a layout by `with_layout_constraint`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.experimental.layout import Layout, with_layout_constraint
from jax.extend.core import Literal

# An instruction of HLO: its name, its sizes, and the equation that it comes from.
INSTRUCTION = re.compile(r'^ *(?:ROOT )?%?([\w.-]+) = \w+\[([\d,]*)\].*op_name="[^"]*equation(\d+)_', re.MULTILINE)


def laid_out(function: Callable[..., Any], orders: Mapping[int, Sequence[int]]) -> Callable[..., Any]:
    """The function with its equations in scopes, and with orders, minor to major, for the values of some."""

    def run(*arguments: Any) -> Any:
        traced, results = jax.make_jaxpr(function, return_shape=True)(*arguments)
        values = dict(zip(traced.jaxpr.constvars, traced.consts, strict=True))
        values |= zip(traced.jaxpr.invars, jax.tree.leaves(arguments), strict=True)

        def read(variable: Any) -> Any:
            return variable.val if isinstance(variable, Literal) else values[variable]

        for number, equation in enumerate(traced.jaxpr.eqns):
            parameters = equation.primitive.get_bind_params(equation.params)
            with jax.named_scope(f"equation{number}_"):
                made = equation.primitive.bind(*map(read, equation.invars), **parameters)
            made = made if equation.primitive.multiple_results else [made]
            if number in orders and len(made) == 1:
                made = [with_layout_constraint(made[0], Layout(tuple(reversed(orders[number]))))]
            values |= zip(equation.outvars, made, strict=True)
        return jax.tree.unflatten(jax.tree.structure(results), map(read, traced.jaxpr.outvars))

    return run


def orders_of(text: str, values: Mapping[str, Sequence[str]]) -> dict[int, list[int]]:
    """The orders of equations with one value, of the layouts of a plan: the text is that of the function in scopes."""
    main, orders = text[text.index("\nENTRY") :], {}
    # The last instruction of an equation makes its value.
    for name, sizes, number in INSTRUCTION.findall(main):
        order = [int(dim) for dim in values.get(name, ["{}"])[0].strip("{}").split(":")[0].split(",") if dim]
        orders[int(number)] = order if len(order) == len(sizes.split(",")) and name in values else []
    return {number: order for number, order in orders.items() if len(order) > 1}
