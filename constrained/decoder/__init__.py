"""The torch decoder: models, KV caches, samplers and a generation loop that knows the constraint.

Importing this package imports torch; the rest of the library runs without it.
"""
