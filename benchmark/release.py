"""The version of betabench, and its date."""

VERSION = "0.3.0"
RELEASED = "2026-11-24"
