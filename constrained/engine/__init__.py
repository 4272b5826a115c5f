"""The engine: grammars are lowered to positions, run as an automaton of int states, and masked against a vocabulary."""
