"""The digest that keys and fingerprints are made of.

``hashlib`` has it from ``_blake2`` too, but loads OpenSSL before, which takes a fiftieth of a small replay.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # a private module of CPython
    from hashlib import blake2b

__all__ = ["blake2b"]
