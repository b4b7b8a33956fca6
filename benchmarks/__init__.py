"""Measures loopaudit against the cost of decoding the same bytes; see README.md beside this file."""
