"""Grammars with ``Distinct`` nodes: arrays without equal items, objects without equal names."""
