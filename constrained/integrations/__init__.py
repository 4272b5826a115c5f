"""Bindings to other packages, one module for each, imported only where that package is installed."""
