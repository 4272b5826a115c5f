"""The public face of grammars: ``Grammar`` makes them, ``GrammarCompiler`` makes them ready for a vocabulary."""
