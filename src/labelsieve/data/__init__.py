"""Where points come from: the pool, held-out validation data, and how held-out points are split."""
