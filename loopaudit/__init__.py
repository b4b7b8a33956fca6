"""Replays recorded agent transcripts through the loop guards of the field."""
