"""Operators of a media pipe: none here."""
