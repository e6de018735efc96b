"""Twin runs: a program and its port, started alike on this machine's CPU and held against each other step by step.

`runs` starts the two, `compare` finds where they differ, `explain` asks whether something the target is known for accounts for it,
`text` and `page` tell the result, `ported` names the recipe behind a line of the port.
"""
