"""A stand-in for SambaFlow 1.16 and later: nothing is compiled, and the rules between compile and run are kept.

Source: SambaNova's developer documentation (https://docs.sambanova.ai/developer/latest/, "Convert existing models") and the programs in
https://github.com/sambanova/tutorials: one program, started as `compile` and then as `run --pef=…`; `from_torch_model_` before anything
is compiled; inputs with the same names, shapes and types both times.
"""

__version__ = "1.24.1"
