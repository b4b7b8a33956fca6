"""The version, on its own so that it costs nothing to ask for."""

__version__ = "0.1.0"
