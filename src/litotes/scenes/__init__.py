"""A drawn world whose truth is known exactly: what is there, which colour, where, how many."""
