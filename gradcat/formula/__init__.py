"""The formula language: one text, three readers (evaluate, typeset, lint)."""
