"""Spaces that vectors are compared in."""
