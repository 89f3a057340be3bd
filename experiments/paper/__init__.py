"""The paper "Pearls from Pebbles", experiment by experiment: ``python -m experiments.paper --help``."""
