"""Where points come from: the pool, and the classes its points may have."""
