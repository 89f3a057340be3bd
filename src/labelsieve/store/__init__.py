"""The file that keeps a project: items, answers and the ledger's journal, in SQLite."""
