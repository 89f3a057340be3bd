"""One loop that trains by gradient steps, for classifiers and confidence functions alike."""
