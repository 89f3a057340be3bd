"""Train-time methods: an objective and an optimiser each, over the one training loop."""
