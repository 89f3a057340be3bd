"""The pages people label, look and review on. The web framework is imported here alone."""
